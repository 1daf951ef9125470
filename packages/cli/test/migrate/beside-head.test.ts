import { type DistributedStore, InvalidInputError, type SessionInfo } from "@holdfast/core";
import {
  type CallRecord,
  type InboxEntry,
  type LoadedState,
  uuidv7,
} from "@holdfast/core/store-kit";
import { describe, expect, test } from "vitest";
import { readSession } from "../../src/transfer/read-session.js";
import { parseSessionLine, type SessionLine } from "../../src/transfer/session-line.js";
import { writeSession } from "../../src/transfer/write-session.js";
import { memoryParts, withStates } from "./memory-parts.js";
import { runMigration } from "./run-migration.js";
import { sampleSession, seedOne } from "./sample-sessions.js";
import { contentsOf } from "./store-contents.js";

const session = sampleSession(10);
const { slot } = session;
const info: SessionInfo = { unfinished: true, title: "漢字", counts: { messages: 4 } };
const records: CallRecord[] = [1, 2, 3].map((number) => ({
  callId: `call-${number}`,
  reply: { text: `reply ${number}` },
}));
const newestFirst = records.toReversed();

async function loaded({ stateStore }: DistributedStore): Promise<LoadedState> {
  return (await stateStore.load(slot)) as LoadedState;
}

/** Saves records one by one, as the engine does, and the facts with each. */
async function remember(
  parts: DistributedStore,
  some: readonly CallRecord[],
  facts = info,
): Promise<void> {
  for (const record of some) {
    const { revision, head, messages } = await loaded(parts);
    await parts.stateStore.save(slot, {
      ...{ op: uuidv7(), expected: revision, head, keep: messages.length },
      ...{ replace: [], append: [], info: facts, callRecord: { record, keep: 10 } },
    });
  }
}

async function sourceOf(): Promise<DistributedStore> {
  const source = memoryParts();
  await seedOne(source, session);
  await remember(source, records);
  return source;
}

function entryOf(text: string): InboxEntry {
  const at = new Date().toISOString();
  return { id: uuidv7(), kind: "input", callId: text, at, body: { text } };
}

async function expectCopy(target: DistributedStore, source: DistributedStore): Promise<void> {
  expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
  expect(await loaded(target)).toStrictEqual(await loaded(source));
  const [there, here] = [await target.stateStore.list(), await source.stateStore.list()];
  expect(there.slots[0]?.info).toStrictEqual(here.slots[0]?.info);
}

describe.each([true, false])("a migration, target fused: %s,", (fused) => {
  test("carries call records and facts under the revision of the state", async () => {
    const [source, target] = [await sourceOf(), memoryParts(fused)];
    expect((await runMigration(source, target)).outcomes).toMatchObject({ copied: 1, mismatch: 0 });
    await expectCopy(target, source);
    expect((await loaded(target)).callRecords).toStrictEqual(newestFirst);
    expect((await runMigration(source, target)).outcomes).toMatchObject({ present: 1 });
  });

  test("updates them with a later state", async () => {
    const [source, target] = [await sourceOf(), memoryParts(fused)];
    await runMigration(source, target);
    const later = [4, 5].map((number) => ({ callId: `call-${number}` }));
    await remember(source, later, { unfinished: false });
    expect((await runMigration(source, target)).outcomes).toMatchObject({ updated: 1 });
    await expectCopy(target, source);
    expect((await loaded(target)).callRecords).toHaveLength(5);
  });

  test("completes a copy that ended between two saves", async () => {
    const [source, target] = [await sourceOf(), memoryParts(fused)];
    let saves = 0;
    const failing = withStates(target, {
      save: async (where, write) => {
        if (write.append.length > 0 && ++saves >= 2) throw new InvalidInputError("refused");
        return target.stateStore.save(where, write);
      },
    });
    expect((await runMigration(source, failing)).outcomes).toMatchObject({ failed: 1 });
    expect((await loaded(target)).revision).not.toBe((await loaded(source)).revision);
    expect((await runMigration(source, target)).outcomes).toMatchObject({ updated: 1 });
    await expectCopy(target, source);
  });

  test("copies a session again that was deleted on the target", async () => {
    const [source, target] = [await sourceOf(), memoryParts(fused)];
    await runMigration(source, target);
    await target.stateStore.delete(slot);
    await target.log.delete(slot);
    expect((await runMigration(source, target)).outcomes).toMatchObject({ copied: 1 });
    await expectCopy(target, source);
  });

  test("carries what waits in the inbox, also when only that is new", async () => {
    const [source, target] = [await sourceOf(), memoryParts(fused)];
    const [first, second] = [entryOf("first"), entryOf("second")];
    await source.stateStore.inbox?.put(slot, first);
    expect((await runMigration(source, target)).outcomes).toMatchObject({ copied: 1 });
    expect(await target.stateStore.inbox?.read(slot)).toStrictEqual([first]);
    await source.stateStore.inbox?.put(slot, second);
    expect((await runMigration(source, target)).outcomes).toMatchObject({ present: 1 });
    expect(await target.stateStore.inbox?.read(slot)).toStrictEqual([first, second]);
  });
});

test("what was said to a session that was never saved goes along, and is verified", async () => {
  const [source, target] = [memoryParts(), memoryParts()];
  const entry = entryOf("first words");
  await source.stateStore.inbox?.put(slot, entry);
  const comparing = await runMigration(source, target, { mode: "verify" });
  expect(comparing.outcomes).toMatchObject({ missing: 1 });
  expect((await runMigration(source, target)).outcomes).toMatchObject({ copied: 1, gone: 0 });
  expect(await target.stateStore.inbox?.read(slot)).toStrictEqual([entry]);
  expect((await target.stateStore.list({ unfinished: true })).slots).toMatchObject([{ slot }]);
  const verified = await runMigration(source, target, { mode: "verify" });
  expect(verified.outcomes).toMatchObject({ present: 1, missing: 0 });
});

test("a target without an inbox is not the place for a session with something in it", async () => {
  const [source, target] = [await sourceOf(), memoryParts(false)];
  await source.stateStore.inbox?.put(slot, entryOf("lost"));
  const { stateStore } = withStates(target, {});
  const without = { ...target, stateStore: { ...stateStore, inbox: undefined } };
  expect((await runMigration(source, without)).outcomes).toMatchObject({ mismatch: 1 });
});

test("a target that keeps no call records gets the state in one save", async () => {
  const [source, target] = [await sourceOf(), memoryParts(false)];
  const { stateStore } = withStates(target, {
    load: async (where, known) => {
      const state = await target.stateStore.load(where, known);
      return state && state !== "unchanged" ? { ...state, callRecords: undefined } : state;
    },
  });
  const old = { ...target, stateStore: { ...stateStore, keepsCallRecords: false } };
  expect((await runMigration(source, old)).outcomes).toMatchObject({ copied: 1, mismatch: 0 });
  expect((await loaded(target)).callRecords).toStrictEqual([]);
});

test("records that the target gives back otherwise are noticed", async () => {
  const [source, target] = [await sourceOf(), memoryParts(false)];
  const forgetful = withStates(target, {
    load: async (where, known) => {
      const state = await target.stateStore.load(where, known);
      return state && state !== "unchanged" ? { ...state, callRecords: records.slice(1) } : state;
    },
  });
  expect((await runMigration(source, forgetful)).outcomes).toMatchObject({ mismatch: 1 });
});

test("facts that the target gives back otherwise are noticed", async () => {
  const [source, target] = [await sourceOf(), memoryParts(false)];
  const forgetful = withStates(target, {
    load: async (where, known) => {
      const state = await target.stateStore.load(where, known);
      return state && state !== "unchanged" ? { ...state, info: { title: "other" } } : state;
    },
  });
  expect((await runMigration(source, forgetful)).outcomes).toMatchObject({ mismatch: 1 });
});

test("an export carries call records and facts, and an import keeps them", async () => {
  const [source, target] = [await sourceOf(), memoryParts()];
  const texts: string[] = [];
  for await (const line of readSession(source, slot)) texts.push(JSON.stringify(line));
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({ callRecords: newestFirst, info });
  async function* lines(): AsyncGenerator<SessionLine> {
    for (const [index, text] of texts.entries()) yield parseSessionLine(text, index + 1);
  }
  expect(await writeSession(target, lines())).toMatchObject({ outcome: "written" });
  await expectCopy(target, source);
  const header = JSON.parse(texts[0] ?? "");
  for (const harm of [{ callRecords: [{}] }, { callRecords: {} }, { info: [] }])
    expect(() => parseSessionLine(JSON.stringify({ ...header, ...harm }), 1)).toThrow(/^line 1 /);
});
