import type { Outcome, TokenFigures } from "../outcome/outcome.js";
import { formatNumber } from "./format.js";

/** Formats the numbers of a demo in lines of at most 78 characters. */
export function outcomeTable(outcome: Outcome): string[] {
  const { tokens, lostTurns, kills } = outcome;
  const { withHoldfast, wholeHistory } = tokens;
  const less = Math.round((1 - withHoldfast.total / wholeHistory.total) * 100);
  return [
    row("turns answered", outcome.turns, "each saved before it was answered"),
    row("turns lost", lostTurns.length, "compared with the conversation log"),
    row("processes killed", kills, "by kill -9, while they replied"),
    row("compactions", outcome.compactions, "old messages became a summary"),
    row("truncations", outcome.truncations, "long arguments of old tool calls, no model"),
    row(
      "bytes evicted",
      outcome.evictedBytes,
      `of ${results(outcome.evictions)}, readable as a file`,
    ),
    row("facts in memory", outcome.memoryFacts, "MEMORY.md, for every later session"),
    row("bytes stored", outcome.storeBytes, "state and log; the log has every word"),
    "",
    `  ${"tokens of a request".padEnd(24)}${"with Holdfast".padStart(16)}${"whole history".padStart(16)}`,
    ...(["median", "largest", "last"] as const).map((name) => pair(name, name, tokens)),
    `${pair("sent in all", "total", tokens)}   ${less} % less`,
    `  The evicted result is ${formatNumber(outcome.evictedTokens)} tokens of each whole history; without it the`,
    `  last one would still have ${formatNumber(wholeHistory.last - outcome.evictedTokens)}.`,
  ];
}

function row(name: string, value: number, note: string): string {
  return `  ${name.padEnd(20)}${formatNumber(value).padStart(9)}   ${note}`;
}

function pair(title: string, name: keyof TokenFigures, tokens: Outcome["tokens"]): string {
  const cells = [tokens.withHoldfast[name], tokens.wholeHistory[name]];
  return `    ${title.padEnd(22)}${cells.map((cell) => formatNumber(cell).padStart(16)).join("")}`;
}

function results(count: number): string {
  return count === 1 ? "a tool result" : `${count} tool results`;
}
