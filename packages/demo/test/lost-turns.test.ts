import { assistantMessage, type LogRecord, type Message, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lostTurns } from "../src/outcome/lost-turns.js";
import type { TurnRecord } from "../src/session/run-session.js";

function turnsOf(count: number): TurnRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ turn: index + 1, callId: `c${index}`, says: `question ${index}` },
    ...{ answer: `answer ${index}`, tokens: 1, tools: [] },
  }));
}

function logOf(turns: readonly TurnRecord[]): LogRecord[] {
  return turns.flatMap(({ callId, says, answer }) => [
    record(callId, userMessage(says)),
    record(callId, assistantMessage(answer)),
  ]);
}

function record(callId: string, message: Message): LogRecord {
  return { v: 1, seq: 0, id: message.id, callId, at: "", kind: "message", message };
}

describe("lostTurns", () => {
  test("finds none where the log has every turn", () => {
    expect(lostTurns(turnsOf(9), logOf(turnsOf(9)))).toEqual([]);
  });

  test("finds whichever record is missing", () => {
    fc.assert(
      fc.property(fc.nat(19), (missing) => {
        const turns = turnsOf(10);
        const log = logOf(turns).filter((_, index) => index !== missing);
        expect(lostTurns(turns, log)).toEqual([(missing >> 1) + 1]);
      }),
    );
  });

  test("finds a question that was asked twice, an answer that is another, and turns out of order", () => {
    const turns = turnsOf(3);
    const log = logOf(turns);
    const twice = [...log, record("c1", userMessage("question 1"))];
    expect(lostTurns(turns, twice)).toEqual([2]);
    const other = [...log, record("c2", assistantMessage("something else"))];
    expect(lostTurns(turns, other)).toEqual([3]);
    expect(lostTurns(turns, [...log.slice(2, 4), ...log.slice(0, 2), ...log.slice(4)])).toEqual([
      2,
    ]);
  });
});
