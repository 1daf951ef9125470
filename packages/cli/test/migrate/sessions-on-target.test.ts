import { userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { addTurn, stateOf } from "./add-turn.js";
import { memoryParts } from "./memory-parts.js";
import { runMigration } from "./run-migration.js";
import {
  recordOf,
  sampleMessage,
  sampleSession,
  sampleSessions,
  seed,
  seedOne,
} from "./sample-sessions.js";
import { contentsOf } from "./store-contents.js";

const session = sampleSession(10);
const { slot } = session;

describe("what is on the target already", () => {
  test("is read back and not copied again", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(20));
    await runMigration(source, target);
    const report = await runMigration(source, target);
    expect(report.outcomes).toMatchObject({ present: 20, copied: 0, updated: 0 });
    expect(report.verified.sessions).toBe(20);
  });

  test("is brought up to date when it is an older copy", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    await runMigration(source, target);
    await addTurn(source, slot, 1);
    await addTurn(source, slot, 2);
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { updated: 1 } });
    expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
  });

  test("gets the records that came after the state was copied", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    await runMigration(source, target);
    await source.log.append(slot, [recordOf(8_000, 1, sampleMessage(8_000, 1))]);
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { updated: 1 } });
    expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
  });

  test("is left alone when it is another session of that name", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    await seedOne(target, { ...sampleSession(11), slot });
    const before = await contentsOf(target, slot);
    const report = await runMigration(source, target);
    expect(report.outcomes).toMatchObject({ conflict: 1, copied: 0, updated: 0 });
    expect(report.problems[0]).toMatchObject({
      source: { messages: session.messages.length },
      target: { messages: sampleSession(11).messages.length },
    });
    expect(await contentsOf(target, slot)).toStrictEqual(before);
  });

  test("is left alone when it was saved there without a log and the source went on too", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    const bare = { ...session, records: [] };
    await seedOne(source, bare);
    await runMigration(source, target);
    const state = await stateOf(target, slot);
    const write = { op: uuidv7(), expected: state.revision, head: state.head, replace: [] };
    await target.stateStore.save(slot, { ...write, keep: 0, append: [userMessage("own")] });
    const own = await contentsOf(target, slot);
    for (const number of [1, 2, 3]) await addTurn(source, slot, number);
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { conflict: 1 } });
    expect((await contentsOf(target, slot)).slice(0, own.length)).toStrictEqual(own);
  });

  test("is left alone when only its log is another's", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    await target.log.append(slot, [recordOf(9_000, 1, sampleMessage(9_000, 1))]);
    const before = await contentsOf(target, slot);
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { conflict: 1 } });
    expect(await contentsOf(target, slot)).toStrictEqual(before);
  });

  test("is no conflict when the target went on with a copy and the source did not", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    await runMigration(source, target);
    for (let number = 1; number <= 20; number++) await addTurn(target, slot, number);
    const before = await contentsOf(target, slot);
    expect(await runMigration(source, target)).toMatchObject({
      outcomes: { ahead: 1, conflict: 0 },
    });
    expect(await contentsOf(target, slot)).toStrictEqual(before);
  });

  test("counts for nothing when it was deleted: files remember the copy, and it is made again", async () => {
    await using directory = await tempDirectory();
    const source = memoryParts();
    const target = new JsonFileAgentStateStore({
      root: directory.path,
      durability: "os",
    }).companions();
    await seedOne(source, session);
    for (let round = 0; round < 3; round++) {
      expect(await runMigration(source, target)).toMatchObject({ outcomes: { copied: 1 } });
      expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
      await target.stateStore.delete(slot);
    }
  });
});
