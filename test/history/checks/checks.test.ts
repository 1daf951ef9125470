import { expect, test } from "vitest";
import type { DoneOperation, Operation, Told } from "../operation.js";
import type { LoggedMessage, SessionRecord } from "../session-record.js";
import { type BriefMessage, type NodeEvent, Trace } from "../trace.js";
import type { History } from "./check.js";
import { checks } from "./index.js";

/** Checks that find something, by name. */
function violated(history: History): string[] {
  return checks.flatMap((check) => check(history).map(({ check: name }) => name));
}

const question: BriefMessage = message("m1", "user", "ask q1 {}");
const answer: BriefMessage = message("m2", "assistant", "re q1 #n0.1-1");

function message(id: string, role: string, text: string): BriefMessage {
  return { id, role, text, calls: [], results: [] };
}

function logged(one: BriefMessage, fields: Partial<LoggedMessage> = {}): LoggedMessage {
  return {
    ...one,
    seq: 1,
    recordId: one.id,
    callId: "c1",
    outcome: "committed",
    isShown: true,
    ...fields,
  };
}

let times = 100;

/** An operation that took from one moment to the next, unless `at` says otherwise. */
function done(
  operation: Omit<Operation, "op" | "session"> & Record<string, unknown>,
  told: Told,
  at: { readonly start?: number; readonly end?: number } = {},
): DoneOperation {
  const [start, end] = [at.start ?? times++, at.end ?? times++];
  return {
    operation: { op: `op-${times++}`, session: "s", ...operation } as unknown as Operation,
    node: "n0.1",
    start,
    end,
    told,
  };
}

function asks(fields: Record<string, unknown> = {}): { kind: "call" } & Record<string, unknown> {
  return { kind: "call", question: "q1", input: "ask q1 {}", ...fields };
}

function stop(text: string, callId = "c1"): Told {
  return { reply: { reason: "stop", text, callId } };
}

function save(fields: Record<string, unknown> = {}) {
  return {
    e: "save",
    t: 50,
    s: "s",
    node: "n0.1",
    op: "w1",
    expected: null,
    revision: "1.a",
    keep: 0,
    replace: [],
    append: [question, answer],
    messages: [question, answer],
    token: "t1",
    ...fields,
  } as SessionRecord["saves"][number];
}

interface Changes {
  readonly session?: Partial<SessionRecord>;
  readonly done?: readonly DoneOperation[];
  readonly events?: readonly Record<string, unknown>[];
  readonly compacted?: ReadonlySet<string>;
}

/** A session with one question and its answer, in order, and what is to be different. */
function history({ session, done: operations, events = [], compacted }: Changes = {}): History {
  return {
    trace: new Trace(events.map((event) => ({ s: "s", node: "n0.1", ...event }) as NodeEvent)),
    done: operations ?? [done(asks(), stop(answer.text))],
    hanging: [],
    crashes: [],
    outages: [],
    compacted: compacted ?? new Set(),
    sessions: [
      {
        session: "s",
        messages: [question, answer],
        tasks: [],
        log: [logged(question), logged(answer)],
        marks: [],
        saves: [save()],
        unknownRevision: null,
        ...session,
      },
    ],
  };
}

test("nothing is wrong with a history in which nothing is wrong", () => {
  expect(violated(history())).toEqual([]);
});

test("a turn that was acknowledged and is in no save, or twice in the log, is found", () => {
  const lost = { messages: [], log: [], saves: [] };
  expect(violated(history({ session: lost }))).toEqual([
    "every acknowledged turn is there once, in order",
  ]);
  const twice = { log: [logged(question), logged(answer), logged(answer)] };
  expect(violated(history({ session: twice }))).toEqual([
    "every acknowledged turn is there once, in order",
  ]);
});

test("a question that the state has twice is found", () => {
  const again = message("m3", "user", question.text);
  const messages = [question, again, answer];
  const twice = {
    messages,
    log: messages.map((one) => logged(one)),
    saves: [save({ append: messages, messages })],
  };
  expect(violated(history({ session: twice }))).toEqual(["every question is said once"]);
});

test("a refused question that is said all the same is found, unless its session was deleted", () => {
  const refused = done(asks(), { error: { code: "CALL_ID_REUSED", name: "", message: "" } });
  expect(violated(history({ done: [refused] }))).toEqual(["no refused question is said"]);
  const deleted = done({ kind: "delete" }, { deleted: true });
  expect(violated(history({ done: [refused, deleted] }))).toEqual([]);
});

test("a state that its saves do not explain is found", () => {
  const unexplained = { saves: [], unknownRevision: "9.f" };
  expect(violated(history({ session: unexplained }))).toContain(
    "every acknowledged turn is there once, in order",
  );
});

test("turns in the wrong order are found", () => {
  const later = message("m4", "assistant", "re q2 #n0.1-2");
  const swapped = [message("m3", "user", "ask q2 {}"), later, question, answer];
  const first = done(asks(), stop(answer.text));
  const second = done(asks({ question: "q2", input: "ask q2 {}" }), stop(later.text, "c2"));
  const wrong = history({
    done: [first, second],
    session: {
      messages: swapped,
      log: swapped.map((one) => logged(one)),
      saves: [save({ append: swapped, messages: swapped })],
    },
  });
  expect(violated(wrong)).toEqual(["every acknowledged turn is there once, in order"]);
});

test("what comes back after its session was deleted is found, what came later is not", () => {
  const before = done(asks(), stop(answer.text));
  const deleted = done({ kind: "delete" }, { deleted: true });
  expect(violated(history({ done: [before, deleted] }))).toEqual([
    "every acknowledged turn is there once, in order",
  ]);
  const after = done(asks(), stop(answer.text));
  expect(violated(history({ done: [deleted, after] }))).toEqual([]);
});

test("an answer to another question is found", () => {
  const wrong = done(asks({ question: "q7", input: "ask q7 {}" }), stop(answer.text));
  expect(violated(history({ done: [wrong] }))).toEqual(["every answer belongs to its question"]);
  const streamed = done(asks(), { ...stop(answer.text), streamed: "re q1" });
  expect(violated(history({ done: [streamed] }))).toEqual(["every answer belongs to its question"]);
});

test("another question under the id of an answered call is found unless it is refused", () => {
  const first = done(asks({ callId: "c1" }), stop(answer.text));
  const other = asks({ callId: "c1", question: "q7", input: "ask q7 {}" });
  const refused = done(other, { error: { code: "CALL_ID_REUSED", name: "", message: "" } });
  expect(violated(history({ done: [first, refused] }))).toEqual([]);
  const taken = done(other, { reply: { reason: "interrupted", text: "", callId: "c1" } });
  const stopped = done({ kind: "interrupt" }, { interrupted: true }, taken);
  expect(violated(history({ done: [first, taken, stopped] }))).toEqual([
    "every answer belongs to its question",
  ]);
});

test("a question that the model was asked and nothing has is found, and so is an accepted message", () => {
  const died = done(asks({ question: "q7", input: "ask q7 {}" }), { lost: true });
  const asked = {
    ...{ e: "asked", t: died.start, op: died.operation.op, question: "q7" },
    ...{ results: [], problem: null, tail: [] },
  };
  expect(violated(history({ done: [died], events: [asked] }))).toEqual([
    "every accepted message is somewhere",
  ]);
  const said = done({ kind: "interrupt", message: "note m9" }, { interrupted: "queued" });
  expect(violated(history({ done: [said] }))).toEqual(["every accepted message is somewhere"]);
  const refused = done({ kind: "interrupt", message: "note m9" }, { interrupted: false });
  expect(violated(history({ done: [refused] }))).toEqual([]);
});

const grant = { e: "granted", t: 10, op: "op1", callId: "c1", token: "t1" };
const tool = { e: "tool", t: 30, question: "q1", nonce: "x", token: "t1", leftMs: 100 };

test("a tool that starts after another node was granted the session is found", () => {
  const taken = { ...grant, t: 20, token: "t2", node: "n1.1" };
  expect(violated(history({ events: [grant, tool] }))).toEqual([]);
  expect(violated(history({ events: [grant, taken, tool] }))).toEqual([
    "no tool runs under a stale lease",
  ]);
  // Stopped on its very first step: no engine can see that.
  const stopped = { ...tool, cameAt: 15 };
  expect(violated(history({ events: [grant, taken, stopped] }))).toEqual([]);
  expect(violated(history({ events: [grant, { ...tool, leftMs: -50 }] }))).toEqual([
    "no tool runs under a stale lease",
  ]);
});

test("a tool call that runs twice is found", () => {
  const twice = [grant, tool, { ...tool, t: 40 }];
  expect(violated(history({ events: twice }))).toEqual(["no tool call runs twice"]);
  // The first run was lost with its process before anything of its call was saved, or its call was rolled back.
  const lost = { saves: [save({ token: "t2" })] };
  expect(violated(history({ events: twice, session: lost }))).toEqual([]);
  const reply = { reason: "interrupted", text: "", callId: "c1" } as const;
  const call = done(asks(), { reply });
  const cause = done(asks({ onBusy: "rollback" }), { lost: true }, call);
  const runs = [grant, { ...tool, op: call.operation.op }, { ...tool, t: 40 }];
  expect(violated(history({ done: [call, cause], events: runs }))).toEqual([]);
});

test("a finished tool whose outcome is called unknown is found", () => {
  const result = {
    ...message("m3", "tool", ""),
    results: [{ id: "id1", state: "interrupted", text: "" }],
  };
  const events = [
    { e: "tool-call", t: 10, id: "id1", nonce: "x", node: "n1.1" },
    { e: "tool-end", t: 20, nonce: "x", aborted: false, node: "n1.1" },
    { e: "signal", t: 2_000, point: "tool-end", signal: "SIGKILL", node: "n1.1" },
  ];
  const append = [question, result, answer];
  const session = {
    messages: append,
    log: append.map((one) => logged(one)),
    saves: [save({ append, messages: append })],
  };
  expect(violated(history({ session, events }))).toEqual(["a tool that finished stays finished"]);
  expect(violated(history({ session, events: events.slice(0, 2) }))).toEqual([]);
});

test("a save of a stale holder is found, and a conflict that a rightful holder gets", () => {
  const events = [grant, { ...grant, t: 20, token: "t2", node: "n1.1" }];
  const saves = [
    save({ append: [question], messages: [question], token: "t2" }),
    save({ append: [answer], keep: 1, expected: "1.a", revision: "2.b" }),
  ];
  expect(violated(history({ session: { saves }, events }))).toEqual([
    "a holder past its lease cannot save",
  ]);
  const error = { code: "CONFLICT", name: "", message: "" };
  const refused = done(asks({ op: "op1" }), { error, leftMs: 1_000 });
  expect(violated(history({ done: [refused], events: [grant] }))).toEqual([
    "a holder whose lease lasts can save",
  ]);
});

test("a turn that the log shows and never was is found, and one that it hides", () => {
  const phantom = logged(message("m9", "assistant", "re q9 #n0.1-9"));
  const log = [logged(question), logged(answer)];
  expect(violated(history({ session: { log: [...log, phantom] } }))).toEqual([
    "log and state agree",
  ]);
  const hidden = logged(question, { outcome: "conflict", isShown: false });
  expect(violated(history({ session: { log: [hidden, logged(answer)] } }))).toEqual([
    "log and state agree",
  ]);
});

test("a log that outlived its state is found, unless a deletion died half-way", () => {
  const old = message("m9", "assistant", "re q9 #n0.1-9");
  const log = [logged(old), logged(question), logged(answer)];
  const events = [{ ...save({ t: 40, revision: "0.z", append: [old] }) }];
  const deleted = (told: Told) =>
    history({
      ...{ session: { log }, events },
      done: [done({ kind: "delete" }, told), done(asks(), stop(answer.text))],
    });
  expect(violated(deleted({}))).toEqual(["log and state agree"]);
  expect(violated(deleted({ lost: true }))).toEqual([]);
});

test("a model request that is not valid is found", () => {
  const problem = "message 3 (user) stands before 1 results";
  const asked = { e: "asked", t: 1, question: null, results: [], problem, tail: [] };
  expect(violated(history({ events: [asked] }))).toEqual(["every model request is valid"]);
});

test("a call that was interrupted by nothing is found", () => {
  const reply = { reason: "interrupted", text: "", callId: "c1" } as const;
  const turn = done(asks({ callId: "c1" }), { reply });
  const own = done({ kind: "interrupt", callId: "c1" }, { interrupted: "stopped" }, turn);
  const others = done({ kind: "interrupt", callId: "c2" }, { interrupted: "stopped" }, turn);
  expect(violated(history({ done: [turn, own] }))).toEqual([]);
  expect(violated(history({ done: [turn, others] }))).toEqual([
    "an interrupt stops the call it is meant for, and one",
  ]);
});

test("an operation that does not end, or in an undocumented way, and a node that ends by itself are found", () => {
  const { operation } = done(asks(), {});
  expect(violated({ ...history(), hanging: [operation] })).toEqual(["every operation ends"]);
  expect(violated({ ...history(), crashes: ["n0.1"] })).toEqual(["no node ends by itself"]);
  const failed = done(asks(), { error: { code: "UNKNOWN", name: "TypeError", message: "" } });
  expect(violated(history({ done: [failed] }))).toEqual([
    "every operation ends in a documented way",
  ]);
});
