import { type LogRecord, type Message, textOf } from "@holdfast/core";
import type { TurnRecord } from "../session/run-session.js";

/** Question and answer of one call in the log. */
interface LoggedCall {
  readonly asked: string[];
  answered: string;
}

/**
 * Returns the numbers of answered turns that the log does not hold as they were: the question once, the answer last, in
 * the order in which they were asked.
 */
export function lostTurns(turns: readonly TurnRecord[], records: readonly LogRecord[]): number[] {
  const calls = new Map<string, LoggedCall>();
  for (const { callId, message } of records) {
    if (message === undefined) continue;
    const call = calls.get(callId) ?? { asked: [], answered: "" };
    calls.set(callId, call);
    if (isSaid(message, "user")) call.asked.push(textOf(message));
    if (isSaid(message, "assistant")) call.answered = textOf(message);
  }
  const order = [...calls.keys()];
  let last = -1;
  const isKept = ({ callId, says, answer }: TurnRecord): boolean => {
    const call = calls.get(callId);
    const at = order.indexOf(callId);
    if (call === undefined || at <= last) return false;
    last = at;
    return call.asked.length === 1 && call.asked[0] === says && call.answered === answer;
  };
  return turns.filter((turn) => !isKept(turn)).map(({ turn }) => turn);
}

function isSaid({ role, content }: Message, by: "user" | "assistant"): boolean {
  return role === by && content.some(({ type }) => type === "text");
}
