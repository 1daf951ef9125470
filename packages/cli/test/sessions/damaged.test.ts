import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { freshStore } from "../support/stores.js";
import { talk } from "../support/talk.js";

test.each([[[]], [["--agent", "assistant", "--user", "ada"]]])(
  "a damaged session is named as such, and can be deleted (%j)",
  async (owner) => {
    await using store = await freshStore("json");
    await talk(store, { user: "ada", session: "s", says: ["hello", "and hello again"] });
    await talk(store, { user: "bob", session: "whole", says: ["good morning"] });
    const root = store.url.slice("json:".length);
    for (const name of await readdir(root, { recursive: true })) {
      if (!/user-ada.*journal\.\d+\.jsonl$/.test(name)) continue;
      const bytes = await readFile(join(root, name));
      await writeFile(
        join(root, name),
        bytes.fill("x", bytes.length >> 1, (bytes.length >> 1) + 4),
      );
    }
    const flags = ["--store", store.url, "--workspace", store.workspace, ...owner];
    expect(await holdfast(["sessions", "show", "s", ...flags])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("damaged"),
    });
    const exported = await holdfast(["sessions", "export", "--store", store.url]);
    expect(exported).toMatchObject({ code: 4, stderr: expect.stringContaining("left out: ") });
    expect(exported.stdout).toContain("good morning");
    expect(exported.stdout).not.toContain("hello again");
    expect(await holdfast(["sessions", "delete", "s", "--yes", ...flags])).toMatchObject({
      code: 0,
    });
    const listed = await holdfast(["sessions", "list", "--json", "--store", store.url]);
    expect(listed.json()).toMatchObject({ sessions: [{ sessionId: "whole" }] });
  },
);

test("what is no file cannot be imported", async () => {
  await using store = await freshStore("json");
  await mkdir(store.workspace, { recursive: true });
  expect(
    await holdfast(["sessions", "import", store.workspace, "--store", store.url]),
  ).toMatchObject({ code: 3, stderr: expect.stringContaining("it is a directory") });
});
