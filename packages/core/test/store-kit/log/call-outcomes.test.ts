import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type CallOutcome,
  InMemoryConversationLog,
  type LogMark,
  type LogRecord,
  type Slot,
  userMessage,
} from "../../../src/index.js";
import {
  CallOutcomes,
  isDiscarded,
  type LogDraft,
  type RunOutcome,
} from "../../../src/store-kit/index.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
let log: InMemoryConversationLog;
let ids = 0;

beforeEach(() => {
  log = new InMemoryConversationLog();
});

function record(callId: string, fields: Partial<LogDraft>): LogDraft {
  return { v: 1, id: `r${++ids}`, callId, at: "2026-01-01T00:00:00.000Z", kind: "mark", ...fields };
}
const said = (callId: string) => record(callId, { kind: "message", message: userMessage("hi") });
const marked = (callId: string, mark: LogMark) => record(callId, { mark });
const ended = (callId: string, outcome: CallOutcome) =>
  marked(callId, { name: "call_end", outcome });

/** How the call of each record ended, marks left out. */
async function outcomes(of = new CallOutcomes(log)): Promise<(RunOutcome | null)[]> {
  const records = await log.read(slot, { limit: 100_000 });
  const messages = records.filter(({ kind }) => kind === "message");
  const found: (RunOutcome | null)[] = [];
  for (const message of messages) found.push(await of.of(slot, message));
  return found;
}

describe("how a call ended", () => {
  test("is what its mark says, for each of its records", async () => {
    await log.append(slot, [said("a"), said("a"), ended("a", "committed")]);
    await log.append(slot, [said("b"), ended("b", "conflict"), said("c"), ended("c", "error")]);
    expect(await outcomes()).toEqual(["committed", "committed", "conflict", "error"]);
  });

  test("is not known of a call that still runs, and of one that died before another ended", async () => {
    await log.append(slot, [said("died"), said("next"), ended("next", "committed"), said("runs")]);
    expect(await outcomes()).toEqual([null, "committed", null]);
  });

  test("is found behind the end of a call that overlapped with it", async () => {
    await log.append(slot, [said("ahead"), said("next"), ended("next", "committed")]);
    await log.append(slot, [said("ahead"), ended("ahead", "conflict")]);
    expect(await outcomes()).toEqual(["conflict", "committed", "conflict"]);
  });

  test("is corrected behind the end of a call that overlapped with it", async () => {
    await log.append(slot, [
      said("a"),
      ended("a", "committed"),
      said("b"),
      ended("b", "committed"),
    ]);
    await log.append(slot, [ended("a", "conflict")]);
    expect(await outcomes()).toEqual(["conflict", "committed"]);
  });

  test("is not looked for far behind the end of another call", async () => {
    await log.append(slot, [said("died"), said("next"), ended("next", "committed")]);
    const more = Array.from({ length: 300 }, () => marked("later", { name: "note" }));
    await log.append(slot, [...more, ended("died", "error")]);
    expect(await outcomes()).toEqual([null, "committed"]);
  });

  test("is that of each run where the id of a call was used again", async () => {
    await log.append(slot, [said("a"), ended("a", "conflict"), said("a"), said("a")]);
    await log.append(slot, [ended("a", "committed"), said("a"), ended("a", "rolled_back")]);
    await log.append(slot, [said("a")]);
    const expected = ["conflict", "committed", "committed", "rolled_back", null];
    expect(await outcomes()).toEqual(expected);
  });

  test("stays rolled back, whatever the call says of itself later", async () => {
    await log.append(slot, [said("a"), ended("a", "rolled_back"), said("b")]);
    await log.append(slot, [ended("b", "committed"), ended("a", "error")]);
    expect(await outcomes()).toEqual(["rolled_back", "committed"]);
  });

  test("is what a later call said that took it back", async () => {
    await log.append(slot, [said("died")]);
    await log.append(slot, [
      ended("died", "rolled_back"),
      said("next"),
      ended("next", "committed"),
    ]);
    expect(await outcomes()).toEqual(["rolled_back", "committed"]);
  });

  test("is what the last of several marks says", async () => {
    const both = [ended("a", "interrupted"), ended("a", "rolled_back")];
    await log.append(slot, [said("a"), ...both, said("b"), ended("b", "committed")]);
    expect(await outcomes()).toEqual(["rolled_back", "committed"]);
  });

  test("does not depend on other marks, nor on a call_end without an outcome", async () => {
    const others = [marked("b", { name: "compaction" }), marked("b", { name: "call_end" })];
    await log.append(slot, [said("a"), ...others, ended("a", "committed")]);
    expect(await outcomes()).toEqual(["committed"]);
  });

  test("is looked for over many pages of records, but not for ever", async () => {
    const steps = (count: number) => Array.from({ length: count }, () => said("long"));
    await log.append(slot, [said("long"), ...steps(20_100), ended("long", "committed")]);
    const [first, ...rest] = await log.read(slot, { limit: 30_000 });
    const middle = rest.at(-350) as LogRecord;
    expect(await new CallOutcomes(log).of(slot, middle)).toBe("committed");
    expect(await new CallOutcomes(log).of(slot, first as LogRecord)).toBeNull();
  });

  test("belongs to its session: another may have a call of the same id", async () => {
    const other = { ...slot, sessionId: "other" };
    await log.append(slot, [said("a"), ended("a", "committed")]);
    await log.append(other, [said("a"), ended("a", "rolled_back")]);
    const found = new CallOutcomes(log);
    for (const [place, outcome] of [[slot, "committed"] as const, [other, "rolled_back"] as const])
      expect(await found.of(place, (await log.read(place))[0] as LogRecord)).toBe(outcome);
  });
});

test("the log is asked once per call, however many of its records are at hand", async () => {
  await log.append(slot, [said("a"), said("a"), said("a"), ended("a", "committed")]);
  let reads = 0;
  const counted = new CallOutcomes({
    read(...args) {
      reads++;
      return log.read(...args);
    },
  });
  expect(await outcomes(counted)).toEqual(["committed", "committed", "committed"]);
  expect(reads).toBe(1);
});

test("in whatever order records are asked about, the answers are the same", async () => {
  const callIds = fc.constantFrom("a", "b", "c");
  const kinds = fc.constantFrom<CallOutcome | "said">("said", "committed", "conflict", "error");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(callIds, kinds, fc.constantFrom(1, 1, 90)), { maxLength: 40 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (steps, asked) => {
        log = new InMemoryConversationLog();
        const drafts = steps.flatMap(([callId, kind, times]) =>
          kind === "said" ? Array.from({ length: times }, () => said(callId)) : ended(callId, kind),
        );
        await log.append(slot, drafts);
        const records = await log.read(slot, { limit: 10_000 });
        const shared = new CallOutcomes(log);
        for (const index of records.length === 0 ? [] : asked) {
          const one = records[index % records.length] as LogRecord;
          expect(await shared.of(slot, one)).toBe(await new CallOutcomes(log).of(slot, one));
        }
      },
    ),
  );
});

test("going backwards through a long log reads each record about once", async () => {
  const calls = Array.from({ length: 200 }, (_, n) => [said(`${n}`), ended(`${n}`, "committed")]);
  await log.append(slot, calls.flat());
  let read = 0;
  const counted = new CallOutcomes({
    async read(...args) {
      const page = await log.read(...args);
      read += page.length;
      return page;
    },
  });
  for (const each of [...(await log.read(slot, { limit: 1_000 }))].reverse())
    await counted.of(slot, each);
  expect(read).toBeLessThan(500);
});

test("only a call_end mark tells an outcome", async () => {
  await log.append(slot, [
    ...[said("a"), marked("a", { name: "interrupt", outcome: "committed" })],
    ...[said("b"), ended("b", "interrupted")],
    ...[marked("b", { name: "interrupt", outcome: "committed" })],
  ]);
  expect(await outcomes()).toEqual([null, "interrupted"]);
});

test.each([
  ["committed", false],
  ["interrupted", false],
  ["error", false],
  [null, false],
  ["conflict", true],
  ["rolled_back", true],
  ["unsaved", true],
] as const)("what a call said that ended as %s was discarded: %s", (outcome, expected) => {
  expect(isDiscarded(outcome)).toBe(expected);
});
