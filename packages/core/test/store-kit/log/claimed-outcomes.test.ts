import { beforeEach, expect, test } from "vitest";
import {
  type CallOutcome,
  InMemoryConversationLog,
  type JsonObject,
  type Slot,
  userMessage,
} from "../../../src/index.js";
import { CallOutcomes, type LogDraft, uuidv7 } from "../../../src/store-kit/index.js";

const slot: Slot = { agentId: "agent", userId: null, sessionId: "session" };
const [a, b, c] = [uuidv7(), uuidv7(), uuidv7()];
let log: InMemoryConversationLog;

beforeEach(() => {
  log = new InMemoryConversationLog();
});

const draft = (id: string, body: Pick<LogDraft, "kind" | "message" | "mark">): LogDraft => ({
  ...{ v: 1, id, callId: `call of ${id.slice(0, 36)}`, at: "2026-01-01T00:00:00.000Z" },
  ...body,
});
const said = (run: string, place: number | string = 0) =>
  draft(`${run}.${place}`, { kind: "message", message: userMessage(`${place}`) });
const ended = (run: string, outcome: CallOutcome, details?: JsonObject) =>
  draft(`${run}.end.${outcome}.${JSON.stringify(details)}`, {
    kind: "mark",
    mark: { name: "call_end", outcome, ...(details && { details }) },
  });

/** The outcome of each message, with a state of this revision stored. */
async function outcomes(revision: string | null, head: JsonObject = {}, agentId?: string) {
  const load = async () => (revision === null ? null : { revision, head, messages: [] });
  const found = new CallOutcomes(log, { stateStore: { load }, agentId });
  const messages = (await log.read(slot)).filter(({ kind }) => kind === "message");
  const all: string[] = [];
  for (const message of messages) all.push(`${await found.of(slot, message)}`);
  return all;
}

test("an end that names its revision counts when the state has that revision", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  expect(await outcomes("1.a")).toEqual(["committed"]);
  expect(await outcomes("1.b")).toEqual(["unsaved"]);
  expect(await outcomes(null)).toEqual(["unsaved"]);
});

test("or when a later run started from it, or replaced it", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  await log.append(slot, [said(b), ended(b, "error", { from: "1.a", to: "2.b" })]);
  await log.append(slot, [
    said(c),
    ended(c, "committed", { from: "1.a", over: ["2.b"], to: "3.c" }),
  ]);
  expect(await outcomes("3.c")).toEqual(["committed", "error", "committed"]);
});

test("or when the state goes back to it, also with saves of others in between", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  expect(await outcomes("2.b", { lastEnds: ["1.a"] })).toEqual(["committed"]);
  expect(await outcomes("2.b", { lastEnds: ["1.x"] })).toEqual(["unsaved"]);
});

test("of several ends of one run, the one whose revision was stored counts", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  await log.append(slot, [ended(a, "committed", { from: null, over: ["1.b"], to: "2.a" })]);
  await log.append(slot, [ended(a, "conflict", { saved: false })]);
  expect(await outcomes("2.a")).toEqual(["committed"]);
  expect(await outcomes("1.b")).toEqual(["conflict"]);
});

test("what a successor says of a run that died counts when the successor was saved", async () => {
  const died = ended(a, "error", { by: b, kept: 1 });
  await log.append(slot, [said(a, 0), said(a, 1), died]);
  await log.append(slot, [said(b), ended(b, "committed", { from: "1.a", to: "2.b" })]);
  expect(await outcomes("2.b")).toEqual(["error", "unsaved", "committed"]);
  // The successor was not: nothing is known of the run it found.
  expect(await outcomes("1.a")).toEqual(["null", "null", "unsaved"]);
});

test("a run that died said its input, restated by its successor, and nothing else", async () => {
  await log.append(slot, [said(a, 1), said(a, "input.0"), ended(a, "error", { by: b, kept: 0 })]);
  await log.append(slot, [said(b), ended(b, "committed")]);
  expect(await outcomes("2.b")).toEqual(["unsaved", "error", "committed"]);
});

test("an end in another agent's session counts also when the state is elsewhere", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  expect(await outcomes(null, {}, "another agent")).toEqual(["committed"]);
  expect(await outcomes("1.b", {}, "another agent")).toEqual(["unsaved"]);
  expect(await outcomes(null, {}, slot.agentId)).toEqual(["unsaved"]);
});

test("runs that are saved while a reader looks are not taken for unsaved ones", async () => {
  const ends = [
    [said(a), ended(a, "committed", { from: null, to: "1.a" })],
    [said(b), ended(b, "committed", { from: "1.a", to: "2.b" })],
    [said(c), ended(c, "committed", { from: "2.b", to: "3.c" })],
  ];
  const saves = ["1.a", "2.b", "3.c"];
  // The state a reader loads is always one run ahead of the records it has read.
  const load = async () => {
    await log.append(slot, ends.shift() ?? []);
    const revision = saves.shift() ?? "3.c";
    return { revision, head: { lastEnds: [revision] }, messages: [] };
  };
  await log.append(slot, ends.shift() ?? []);
  saves.shift();
  const found = new CallOutcomes(log, { stateStore: { load } });
  const all: string[] = [];
  for (let seq = 0; all.length < 3; ) {
    const [message] = (await log.read(slot, { after: seq })).filter((one) => one.message);
    if (!message) break;
    all.push(`${await found.of(slot, message)}`);
    seq = message.seq;
  }
  expect(all).toEqual(["committed", "committed", "committed"]);
});

test("a run that logged its end after a reader loaded the state is not taken for an unsaved one", async () => {
  await log.append(slot, [said(a), ended(a, "committed", { from: null, to: "1.a" })]);
  let stored: { revision: string; head: JsonObject } = { revision: "1.a", head: {} };
  const load = async () => ({ ...stored, messages: [] });
  const found = new CallOutcomes(log, { stateStore: { load } });
  const outcomeOfLast = async () => {
    const [message] = (await log.read(slot)).filter((one) => one.message).slice(-1);
    return message && (await found.of(slot, message));
  };
  expect(await outcomeOfLast()).toBe("committed");
  stored = { revision: "2.b", head: { unfinishedRun: { runId: b } } };
  await log.append(slot, [said(b), ended(b, "committed", { from: "1.a", to: "3.b" })]);
  expect(await outcomeOfLast()).toBe("unsettled");
});

test("what another wrote of a run counts when the save that it was written for was made, whatever else that one saved", async () => {
  await log.append(slot, [
    said(a, "input.0"),
    ended(a, "rolled_back", { by: b, kept: 0, with: "1.b" }),
    ended(a, "error", { by: c, kept: 0, with: "1.c" }),
    ended(c, "committed", { from: null, to: "1.c" }),
    ended(b, "committed", { from: null, over: ["1.c"], to: "2.b", merged: true }),
  ]);
  expect(await outcomes("2.b")).toEqual(["error"]);
});

test("a run that was rolled back by a merge leaves the input that another had saved, and nothing else", async () => {
  const takenIn = [
    said(a, "input.0"),
    ended(a, "error", { by: b, kept: 0, with: "1.b" }),
    said(a, 1),
    ended(b, "committed", { from: null, over: ["1.b"], to: "2.b" }),
  ];
  const rolledBack = { from: null, over: ["2.b"], to: "3.a" };
  await log.append(slot, [...takenIn, ended(a, "rolled_back", { ...rolledBack, merged: true })]);
  expect(await outcomes("3.a")).toEqual(["error", "rolled_back"]);
  log = new InMemoryConversationLog();
  await log.append(slot, [...takenIn, ended(a, "rolled_back", rolledBack)]);
  expect(await outcomes("3.a")).toEqual(["rolled_back", "rolled_back"]);
});
