import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AgentStateStore, type Message, textOf, userMessage } from "@holdfast/core";
import {
  applyWrite,
  isWhole,
  type LoadedState,
  loadWhole,
  type StateChange,
} from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore, type StoreReport } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { append, change, loadSession, rotate, sessionDirectory, slot } from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

let root: string;
/** Stand for two processes: they share nothing but the files. */
let mine: AgentStateStore;
let theirs: AgentStateStore;

beforeEach(() => {
  root = temporaryRoot();
  mine = openStore();
  theirs = openStore();
});

test("a process reads as much of a session of 5,000 messages that another saved as of one of 10", () => {
  const script = fileURLToPath(new URL("./children/reader.mjs", import.meta.url));
  const turns = 40;
  const bytesRead = (messages: number): number =>
    Number(
      execFileSync(process.execPath, [script, temporaryRoot(), String(messages), String(turns)], {
        encoding: "utf8",
      }),
    );
  // The system counts what Node reads for itself too, now and then some kilobytes: the smallest of three is the store's.
  const [small = 0, large = 0] = [10, 5_000].map((messages) =>
    Math.min(...[1, 2, 3].map(() => bytesRead(messages))),
  );
  expect(small).toBeGreaterThan(turns * 300);
  expect(large / small).toBeLessThan(1.1);
});

test("whatever two processes save in turn, what one is told leads to what is stored, through rotations", async () => {
  const edit = fc.record({
    writer: fc.nat({ max: 1 }),
    keep: fc.nat({ max: 12 }),
    replace: fc.nat({ max: 11 }),
    append: fc.nat({ max: 3 }),
    headBytes: fc.constantFrom(0, 0, 10, 40_000),
  });
  let changes = 0;
  const property = fc.asyncProperty(
    fc.array(edit, { minLength: 5, maxLength: 30 }),
    async (edits) => {
      root = temporaryRoot();
      const nodes = [openStore(), openStore()].map((store) => ({ store, state: EMPTY }));
      for (const { writer, headBytes, ...part } of edits) {
        const node = nodes[writer] ?? raise("no such node");
        const known = node.state.revision === "" ? undefined : node.state.revision;
        const answer = await node.store.load(slot, known);
        if (typeof answer === "object" && answer !== null) {
          if (!isWhole(answer)) changes++;
          node.state = isWhole(answer) ? answer : applied(node.state, answer);
        }
        const stored = await loadWhole(openStore(), slot);
        if (stored !== null) expect(node.state).toEqual({ callRecords: [], ...stored });
        const { messages } = node.state;
        const keep = Math.max(0, messages.length - part.keep);
        const write = {
          ...change(stored, { [`field ${keep % 3}`]: "x".repeat(headBytes) }),
          keep,
          replace: part.replace < keep ? [[part.replace, numbered()] as const] : [],
          append: Array.from({ length: part.append }, numbered),
          callRecord: { record: { callId: `call ${keep}` }, keep: 3 },
        };
        const revision = await node.store.save(slot, write);
        const callRecords = (await loadSession(openStore())).callRecords;
        node.state = {
          ...{ revision, head: write.head, callRecords },
          messages: applyWrite(messages, write),
        };
      }
    },
  );
  await fc.assert(property, { numRuns: scaled(15, 300) });
  expect(changes).toBeGreaterThan(20);
});

test("the saves of a run count as one: what changed is told across 30 turns, however often a run saved in between", async () => {
  for (const saves of [1, 4]) {
    root = temporaryRoot();
    const store = openStore();
    const known = await append(store, ["known"]);
    for (let turn = 0; turn < 30; turn++) {
      for (let save = 0; save < saves; save++)
        await append(store, [], {}, { info: { unfinished: true } });
      await append(store, [`turn ${turn}`], {}, { info: { unfinished: false } });
    }
    expect((await changeSince(store, known)).append).toHaveLength(30);
  }
});

test("records that lost, and one that was cut short, are no part of what changed", async () => {
  const known = await append(mine, ["one"]);
  await append(theirs, ["two"]);
  const journal = join(sessionDirectory(root), "journal.1.jsonl");
  const bytes = readFileSync(journal);
  // What a process leaves that saves at the same moment as another, and one that dies while it saves.
  appendFileSync(journal, bytes);
  const last = await append(theirs, ["three"]);
  appendFileSync(journal, bytes.subarray(0, 100));
  const told = await changeSince(mine, known);
  expect(told).toMatchObject({ revision: last, keep: 1, replace: [] });
  expect(told.append.map(textOf)).toEqual(["two", "three"]);
  const next = await append(theirs, ["four"]);
  expect((await changeSince(mine, last)).append.map(textOf)).toEqual(["four"]);
  expect((await changeSince(mine, known)).revision).toBe(next);
});

test("the process that saved last is told nothing, and both what changed from any of their revisions", async () => {
  const first = await append(mine, ["one"]);
  await loadSession(theirs);
  const second = await append(theirs, ["two"]);
  expect(await theirs.load(slot, second)).toBe("unchanged");
  expect((await changeSince(theirs, first)).append.map(textOf)).toEqual(["two"]);
  expect((await changeSince(mine, first)).append.map(textOf)).toEqual(["two"]);
  expect(await mine.load(slot, second)).toBe("unchanged");
});

test("a new generation is read whole once, and from there on what changed", async () => {
  await append(mine, ["one"]);
  const known = (await loadSession(theirs)).revision;
  await rotate(mine);
  const begun = (await loadSession(openStore())).revision;
  // The process that began it has read nothing of its journal, which does not exist yet.
  const next = await append(openStore(), ["two"]);
  expect((await changeSince(mine, begun)).append.map(textOf)).toEqual(["two"]);
  expect(isWhole(await theirs.load(slot, known))).toBe(true);
  await append(mine, ["three"]);
  expect((await changeSince(theirs, next)).append.map(textOf)).toEqual(["three"]);
});

test("a head too large to be kept in memory is read whole", async () => {
  const known = await append(mine, ["one"], { large: "x".repeat(100_000) });
  await append(theirs, ["two"], { large: "y".repeat(100_000) });
  const answer = await mine.load(slot, known);
  expect(isWhole(answer) && answer.messages.map(textOf)).toEqual(["one", "two"]);
});

test("a journal whose mode was changed is read whole once", async () => {
  const known = await append(mine, ["one"]);
  chmodSync(join(sessionDirectory(root), "journal.1.jsonl"), 0o640);
  expect(await mine.load(slot, known)).toBe("unchanged");
  await append(theirs, ["two"]);
  expect((await changeSince(mine, known)).append.map(textOf)).toEqual(["two"]);
});

test("a damaged record is an error to a process that only reads on", async () => {
  const reports: StoreReport[] = [];
  const reader = new JsonFileAgentStateStore({ root, onReport: (each) => void reports.push(each) });
  await append(mine, ["one"]);
  const { revision } = await loadSession(reader);
  appendFileSync(
    join(sessionDirectory(root), "journal.1.jsonl"),
    '\n{"bytes":3,"crc":"00000000"}\n',
  );
  await expect(reader.load(slot, revision)).rejects.toMatchObject({ code: "CORRUPT" });
  expect(reports).toEqual([]);
});

const EMPTY: LoadedState = { revision: "", head: {}, messages: [], callRecords: [] };
let messages = 0;

function openStore(): AgentStateStore {
  return new JsonFileAgentStateStore({ root, durability: "os" });
}

function numbered(): Message {
  return userMessage(`message ${messages++}`);
}

function applied(state: LoadedState, told: StateChange): LoadedState {
  expect(told.from).toBe(state.revision);
  const { revision, head, callRecords } = told;
  return { revision, head, callRecords, messages: applyWrite(state.messages, told) };
}

async function changeSince(store: AgentStateStore, known: string): Promise<StateChange> {
  const answer = await store.load(slot, known);
  if (answer === null || answer === "unchanged" || isWhole(answer)) return raise("no change");
  expect(answer.from).toBe(known);
  return answer;
}

function raise(problem: string): never {
  throw new Error(problem);
}
