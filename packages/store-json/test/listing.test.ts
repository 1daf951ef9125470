import { appendFileSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidInputError, type SessionInfo, type Slot } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { expect, test } from "vitest";
import { encodeSave } from "../src/document/record.js";
import {
  append,
  change,
  loadSession,
  rotate,
  sessionDirectory,
  sessionFiles,
  slot,
} from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

function openStore(root: string): JsonFileAgentStateStore {
  return new JsonFileAgentStateStore({ root, durability: "os" });
}

async function listedInfo(root: string): Promise<SessionInfo | undefined> {
  const { slots } = await openStore(root).list();
  expect(slots).toHaveLength(1);
  return slots[0]?.info;
}

const journalIn = (root: string, generation = 1): string =>
  join(sessionDirectory(root), `journal.${generation}.jsonl`);

test("the facts of a session are found at the end of its journal and at the start of its snapshot", async () => {
  const root = temporaryRoot();
  const store = openStore(root);
  const info = { title: "ü", metadata: { text: "x".repeat(5_000) } };
  await append(store, ["one"], {}, { info });
  expect(await listedInfo(root)).toEqual(info);
  await append(store, ["two"], {}, { info: { title: "short" } });
  await append(store, ["three"]);
  expect(await listedInfo(root)).toEqual({ title: "short" });
  await rotate(store);
  expect(await listedInfo(root)).toEqual({ title: "short" });
  await append(openStore(root), ["four"]);
  expect(await listedInfo(root)).toEqual({ title: "short" });
});

test("text that looks like the facts of a session is not taken for them", async () => {
  const root = temporaryRoot();
  const store = openStore(root);
  const tail = '"info":{"title":"false"},"from":0,"infoBytes":17,"crc":"00000000"}';
  await append(store, [`{"bytes":12,${tail}`], {
    fields: { info: { title: "false" }, infoBytes: 17 },
  });
  expect(await listedInfo(root)).toBeUndefined();
  await append(store, [tail], { tail }, { info: { title: tail } });
  expect(await listedInfo(root)).toEqual({ title: tail });
});

test("a record that lost against another, or was cut short, changes no facts", async () => {
  const root = temporaryRoot();
  const store = openStore(root);
  const first = await append(store, ["one"], {}, { info: { title: "first" } });
  const from = statSync(journalIn(root)).size;
  await append(store, ["two"], {}, { info: { title: "second" } });
  const winner = readFileSync(journalIn(root));
  // As a process writes it that had read the journal before the second save.
  const loser = encodeSave(
    { ...{ prev: first, rev: "2.0", op: "lost", at: "now" }, messageBytes: 0, keep: 1, unset: [] },
    { set: [], replace: [], append: [], info: '{"title":"lost"}' },
    from,
  );
  appendFileSync(journalIn(root), loser);
  expect((await loadSession(openStore(root))).messages).toHaveLength(2);
  expect(await listedInfo(root)).toEqual({ title: "second" });
  for (const length of [loser.length - 1, loser.length - 2, 30, 2]) {
    writeFileSync(journalIn(root), Buffer.concat([winner, loser.subarray(0, length)]));
    expect(await listedInfo(root)).toEqual({ title: "second" });
  }
});

test("a save of the release before, which gives no facts, leaves those of the snapshot", async () => {
  const root = temporaryRoot();
  const store = openStore(root);
  await append(store, ["one"], {}, { info: { title: "kept" } });
  await rotate(store);
  const { revision } = await loadSession(store);
  const record = { prev: revision, rev: "9.0", op: "old", at: "now", messageBytes: 0 };
  const texts = { set: [["old", "true"]], replace: [], append: [] } as const;
  writeFileSync(journalIn(root, 2), encodeSave({ ...record, keep: 1, unset: [] }, texts, 0));
  expect((await loadSession(openStore(root))).head).toEqual({ old: true });
  expect(await listedInfo(root)).toEqual({ title: "kept" });
});

test("remembered calls do not make a journal turn over more often", async () => {
  const root = temporaryRoot();
  const store = openStore(root);
  const text = "x".repeat(1_000);
  for (let turn = 0; turn < 300; turn++) {
    const callRecord = { record: { callId: `${turn}`, text }, keep: 100 };
    await append(store, ["hi"], {}, { callRecord, info: { counts: { turn } } });
  }
  const { callRecords = [], messages } = await loadSession(openStore(root));
  expect(messages).toHaveLength(300);
  expect(callRecords.map(({ callId }) => Number(callId))).toEqual(
    Array.from({ length: 100 }, (_, index) => 299 - index),
  );
  // 300 KB were written of a session of 140: one generation ends on the way, or two.
  const snapshot = sessionFiles(root).find((name) => name.startsWith("state."));
  expect(Number(snapshot?.split(".")[1])).toBeLessThanOrEqual(4);
});

test("a listing continued by other processes misses none of the sessions saved meanwhile", async () => {
  const root = temporaryRoot();
  const slots = Array.from({ length: 40 }, (_, index) => ({ ...slot, sessionId: `s${index}` }));
  for (const each of slots) await openStore(root).save(each, change(null));
  for (const [index, each] of slots.entries()) savedAt(root, each, Date.now() - 60_000 + index);
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await openStore(root).list({ limit: 6, cursor });
    seen.push(...page.slots.map((info) => info.slot.sessionId));
    const ahead = slots.filter(({ sessionId }) => !seen.includes(sessionId));
    for (const each of [ahead[0], ahead.at(-1), slots[20]])
      if (each !== undefined) await saveAgain(root, each);
    cursor = page.cursor;
    expect(++pages).toBeLessThan(50);
  } while (cursor !== undefined);
  for (const { sessionId } of slots) expect(seen).toContain(sessionId);
  // The newest first, before anything was saved.
  expect(seen.slice(0, 3)).toEqual(["s39", "s38", "s37"]);
});

test("a cursor of the release before is understood, anything else is refused", async () => {
  const root = temporaryRoot();
  const slots = Array.from({ length: 3 }, (_, index) => ({ ...slot, sessionId: `s${index}` }));
  for (const each of slots) await openStore(root).save(each, change(null));
  for (const [index, each] of slots.entries())
    savedAt(root, each, 1_000_000_000_000 + index * 1_000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cursor = encode([1_000_000_002_000, join("agent", "user-user", "s2")]);
  const rest = (await openStore(root).list({ cursor })).slots.map((info) => info.slot.sessionId);
  expect(rest.slice(0, 2)).toEqual(["s1", "s0"]);
  for (const wrong of [
    "x",
    encode([1]),
    encode([1, "a", "b"]),
    encode(null),
    encode([1, 2, 3, true]),
  ])
    await expect(openStore(root).list({ cursor: wrong })).rejects.toSatisfy(InvalidInputError.is);
});

async function saveAgain(root: string, each: Slot): Promise<void> {
  const store = openStore(root);
  const loaded = await loadWhole(store, each);
  await store.save(each, change(loaded, { again: Math.random() }));
}

/** Sets the time at which a session was saved. */
function savedAt(root: string, { sessionId }: Slot, ms: number): void {
  const file = join(root, "agent", "user-user", sessionId, "journal.1.jsonl");
  utimesSync(file, ms / 1_000, ms / 1_000);
}
