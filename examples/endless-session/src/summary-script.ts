import type { Message } from "@holdfast/core";
import { textIn } from "./request-text.js";

/** Tells whether a request asks for a summary: its last message is the instruction of the compaction. */
export function isSummaryRequest(messages: readonly Message[]): boolean {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.some((block) => block.type === "hint" && block.source === "compaction");
}

/**
 * Writes what a model would write: facts found in the conversation it is given, an earlier summary included. They may
 * come as messages or, where those do not fit, as text in pieces.
 */
export function writeSummary(messages: readonly Message[]): string {
  const text = textIn(messages);
  const last = [...text.matchAll(/entry (\d+) for invoice (\d+)/g)].at(-1);
  const booked = last ? `The last booking was entry ${last[1]} for invoice ${last[2]}.` : "";
  return [
    "## SESSION INTENT",
    "Book the invoices as they come.",
    ...all(text, /^Remember: .+$/gm),
    "## SUMMARY",
    booked,
    "## ARTIFACTS",
    ...all(text, /large_tool_results\/[^\s"]+\.txt/g).map((path) => `The old ledger: ${path}`),
    ...all(text, /closing-report\.md/g).map((path) => `Written: ${path}`),
    "## NEXT STEPS",
    "The next invoice.",
  ].join("\n");
}

/** Returns what a pattern finds, each once. */
function all(text: string, pattern: RegExp): string[] {
  return [...new Set(text.match(pattern) ?? [])];
}
