import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ReActAgent } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { freshStore, storeKinds } from "../support/stores.js";
import { talk, withStore } from "../support/talk.js";

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

test.each(storeKinds)(
  "a session of %s with a section that no agent reads can be shown, exported, moved, repaired and deleted",
  async (kind) => {
    await using store = await freshStore(kind);
    await using other = await freshStore("json");
    await talk(store, { user: "ada", session: "s", says: ["hello"] });
    const slot = { agentId: "assistant", userId: "ada", sessionId: "s" };
    await withStore(store.url, async ({ stateStore }) => {
      const loaded = await loadWhole(stateStore, slot);
      if (loaded === null) throw new Error("nothing is stored");
      await stateStore.save(slot, {
        ...{ op: "damage", expected: loaded.revision, keep: loaded.messages.length },
        ...{ replace: [], append: [], head: { ...loaded.head, planModeContext: "secret" } },
      });
    });
    const flags = ["--store", store.url, "--workspace", store.workspace];
    const shown = await holdfast(["sessions", "show", "s", ...flags]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
    expect(shown.stderr).toMatch(/damaged: .*planModeContext must be an object.*salvage: true/);
    const exported = await holdfast(["sessions", "export", "s", ...flags]);
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
    expect(await holdfast(["sessions", "delete", "s", "--yes", ...flags])).toMatchObject({
      code: 0,
    });

    const file = join(other.workspace, "s.ndjson");
    await mkdir(other.workspace, { recursive: true });
    await writeFile(file, exported.stdout);
    expect(await holdfast(["sessions", "import", file, "--store", other.url])).toMatchObject({
      code: 0,
    });
    await withStore(other.url, async ({ stateStore }) => {
      const agent = new ReActAgent({
        name: "assistant",
        model: scriptedModel(["fine"]),
        stateStore,
      });
      await agent.updateAgentState("ada", "s", () => undefined, { salvage: true });
      expect((await agent.call("and now?", slot)).text).toBe("fine");
      expect((await agent.getAgentState(slot))?.context).toHaveLength(4);
    });
  },
);

test("what is no file cannot be imported", async () => {
  await using store = await freshStore("json");
  await mkdir(store.workspace, { recursive: true });
  expect(
    await holdfast(["sessions", "import", store.workspace, "--store", store.url]),
  ).toMatchObject({ code: 3, stderr: expect.stringContaining("it is a directory") });
});
