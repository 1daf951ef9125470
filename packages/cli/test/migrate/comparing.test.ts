import { readdir, rm } from "node:fs/promises";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { addTurn, stateOf } from "./add-turn.js";
import { memoryParts } from "./memory-parts.js";
import { runMigration } from "./run-migration.js";
import { sampleSession, sampleSessions, seed, seedOne } from "./sample-sessions.js";

const session = sampleSession(10);
const { slot } = session;

describe("comparing", () => {
  test("a dry run counts what would be copied and writes nothing", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(10));
    const report = await runMigration(source, target, { mode: "dry-run" });
    expect(report).toMatchObject({ outcomes: { missing: 10 }, problems: [] });
    expect((await target.stateStore.list()).slots).toStrictEqual([]);
  });

  test("a verification names what is missing, behind and changed", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    const sessions = sampleSessions(8);
    await seed(source, sessions);
    await runMigration(source, target);
    expect(await runMigration(source, target, { mode: "verify" })).toMatchObject({
      outcomes: { present: 8 },
      problems: [],
    });
    const [first, second] = [sessions[1]?.slot, sessions[2]?.slot];
    if (first === undefined || second === undefined) throw new Error("no sessions");
    await target.stateStore.delete(first);
    await target.log.delete(first);
    await addTurn(source, second, 1);
    const { outcomes, problems } = await runMigration(source, target, { mode: "verify" });
    expect(outcomes).toMatchObject({ present: 6, missing: 1, behind: 1 });
    expect(problems).toHaveLength(2);
  });

  test("a copy with the right revision and another content is found out", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, { ...session, saves: 1 });
    await runMigration(source, target);
    const state = await stateOf(source, slot);
    await target.stateStore.delete(slot);
    await target.stateStore.save(slot, {
      op: uuidv7(),
      expected: null,
      revision: state.revision,
      head: { ...state.head, zebra: -1 },
      keep: 0,
      replace: [],
      append: state.messages,
    });
    expect(await runMigration(source, target, { mode: "verify" })).toMatchObject({
      outcomes: { mismatch: 1, present: 0 },
    });
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { mismatch: 1 } });
  });

  test("a long text that is missing on the target is found out", async () => {
    await using directory = await tempDirectory();
    const source = memoryParts();
    const root = directory.path;
    const target = new JsonFileAgentStateStore({ root, durability: "os" }).companions();
    await seedOne(source, session);
    await runMigration(source, target);
    const names = await readdir(root, { recursive: true });
    const blobs = names.filter((name) => name.includes("sha256-"));
    expect(blobs).toHaveLength(2);
    await rm(`${root}/${blobs[0]}`);
    expect(await runMigration(source, target)).toMatchObject({
      outcomes: { mismatch: 1 },
      problems: [{ reason: expect.stringContaining("missing") }],
    });
  });
});
