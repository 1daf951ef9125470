import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";

const example = fileURLToPath(new URL("../examples/quickstart", import.meta.url));

test("the quickstart answers both users, and continues their sessions when it is run again", async () => {
  await using directory = await tempDirectory();
  const state = join(directory.path, "state");
  const { VITEST: _, ...env } = process.env;
  for (let run = 0; run < 2; run++) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(example, "dist/main.js")],
      {
        cwd: directory.path,
        env: { ...env, HOLDFAST_STATE_HOME: state },
        encoding: "utf8",
        timeout: 300_000,
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^alice: .*rain in Oslo\.\nbob: .*sun in Cairo\.\n$/);
  }
  const store = new JsonFileAgentStateStore({ root: state });
  for (const userId of ["alice", "bob"]) {
    const loaded = await loadWhole(store, { agentId: "guide", userId, sessionId: "trip" });
    if (loaded === null) throw new Error(`${userId} has no session`);
    const { messages } = loaded;
    expect(messages.filter(({ role }) => role === "user").map(textOf)).toEqual([
      expect.stringContaining("Umbrella"),
      expect.stringContaining("Umbrella"),
    ]);
  }
  await store.close();
});

test("the quickstart is one file of fewer than 40 lines", () => {
  const source = join(example, "src");
  expect(readdirSync(source)).toEqual(["main.ts"]);
  const lines = readFileSync(join(source, "main.ts"), "utf8").trimEnd().split("\n");
  expect(lines.length).toBeLessThan(40);
});
