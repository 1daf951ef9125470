import { InMemoryKeyValueStore } from "@holdfast/core";
import { expect, test } from "vitest";
import { RemoteFilesystem } from "../../src/filesystem/index.js";

const mine = { agentId: "agent", userId: "me", sessionId: "one" };
const bytes = Uint8Array.from([1, 2, 3]);

test("a path has at most a hundred parts, as in a directory: each is looked up and listed", async () => {
  const files = new RemoteFilesystem({ keyValue: new InMemoryKeyValueStore() });
  const deepest = `${"d/".repeat(99)}f`;
  await files.write(mine, deepest, bytes);
  expect(await files.read(mine, deepest)).toEqual(bytes);
  const refusal = { code: "INVALID_INPUT", message: expect.stringContaining("101 parts") };
  for (const change of ["write", "append"] as const)
    await expect(files[change](mine, `d/${deepest}`, bytes)).rejects.toMatchObject(refusal);
  expect(await files.read(mine, `d/${deepest}`)).toBeNull();
  expect((await files.list(mine)).length).toBe(100);
});
