import { figure } from "./context-change.js";
import type { Outcome } from "./outcome.js";
import type { SessionRecord } from "./session.js";
import { sparkline } from "./sparkline.js";
import { aside, heading, line } from "./terminal.js";

/** Width of the plot. */
const columns = 75;

/** Prints the table and the plot of both sizes. */
export function showSizes({ turns, whole }: SessionRecord, outcome: Outcome): void {
  const rows = turns.map(({ turn, callId, request }) => ({
    turn,
    messages: request.messages,
    tokens: request.tokens,
    whole: whole.lastRequestOf.get(callId) ?? 0,
  }));
  heading("The last request of a turn, with Holdfast and with the whole history");
  aside(cells("turn", "messages", "tokens", "whole history"));
  for (const { turn, messages, tokens, whole } of rows.filter(({ turn }) => turn % 10 === 0))
    line(cells(turn, messages, tokens, whole));
  const most = Math.max(...rows.map((row) => row.whole));
  const withHoldfast = rows.map(({ tokens }) => tokens / outcome.triggerTokens);
  const withAll = rows.map((row) => Math.log10(row.whole / 1_000) / Math.log10(most / 1_000));
  heading(`All ${rows.length} turns`);
  line(`${sparkline(withHoldfast, columns)}  0 to ${figure(outcome.triggerTokens)} tokens`);
  line(`${sparkline(withAll, columns)}  whole: 1,000 to ${figure(most)}, logarithmic`);
}

/** Prints what was done about the size, what was remembered, and what it cost. */
export function showOutcome(outcome: Outcome): void {
  const { contextChanges, facts, disk, problems } = outcome;
  heading("What happened");
  for (const { turn, kind, text } of contextChanges)
    line(`turn ${String(turn).padStart(3)}  ${kind.padEnd(10)}  ${text}`);
  heading("Asked about what had left the context");
  for (const { turn, question, answer, right } of facts) {
    line(`turn ${String(turn).padStart(3)}  > ${question}`);
    line(`          < ${answer}${right ? "" : "  WRONG"}`);
  }
  heading("In numbers");
  line(
    `longest request     ${figure(outcome.longestRequest)} of ${figure(outcome.triggerTokens)} tokens at which compaction begins`,
  );
  line(
    `sent in all         ${figure(outcome.sentTokens)} tokens, summaries included; whole it would be ${figure(outcome.wholeTokens)}`,
  );
  if (outcome.wholeEndsAt !== undefined)
    line(
      `without Holdfast    turn ${outcome.wholeEndsAt} no longer fits the window of ${figure(outcome.windowTokens)} tokens`,
    );
  line(`saved state         ${figure(disk.state)} bytes`);
  line(`conversation log    ${figure(disk.log)} bytes, every message whole`);
  line(`files moved out     ${figure(disk.movedOut)} bytes, which the model can read and search`);
  for (const problem of problems) line(`NOT AS IT SHOULD BE: ${problem}`);
}

function cells(turn: number | string, ...rest: (number | string)[]): string {
  const shown = rest.map((cell) => (typeof cell === "number" ? figure(cell) : cell).padStart(15));
  return `${String(turn).padStart(4)}${shown.join("")}`;
}
