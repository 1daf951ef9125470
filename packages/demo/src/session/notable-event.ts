import type { AgentEvent } from "@holdfast/core";
import { formatNumber } from "../display/format.js";

/** Event of a turn that the demo reports. */
export interface NotableEvent {
  readonly turn: number;
  readonly kind:
    | "evicted"
    | "truncated"
    | "compacted"
    | "remembered"
    | "killed"
    | "resumed"
    | "found"
    | "failed";
  readonly text: string;
}

/** Converts an event of the agent; null for the many that are not reported. */
export function notableEventOf(event: AgentEvent, turn: number): NotableEvent | null {
  switch (event.type) {
    case "tool_result_evicted":
      return {
        turn,
        kind: "evicted",
        text: `${formatNumber(event.chars)} characters of ${event.name}, kept as a file`,
      };
    case "compaction_end":
      return compacted(event, turn);
    case "memory_flush_end":
      if (event.entries === 0) return null;
      return {
        turn,
        kind: "remembered",
        text: `${event.entries} ${event.entries === 1 ? "fact" : "facts"} noted for later sessions`,
      };
    case "compaction_failed":
    case "memory_flush_failed":
      return { turn, kind: "failed", text: `${event.type}: ${event.error}` };
    case "consolidation":
      return event.state === "failed"
        ? { turn, kind: "failed", text: `consolidation: ${event.error ?? ""}` }
        : null;
    case "error":
      return { turn, kind: "failed", text: `${event.code}: ${event.message}` };
    default:
      return null;
  }
}

function compacted(
  event: Extract<AgentEvent, { type: "compaction_end" }>,
  turn: number,
): NotableEvent {
  const { actions, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = event;
  const tokens = `${formatNumber(tokensBefore)} to ${formatNumber(tokensAfter)} tokens`;
  return actions.includes("summary")
    ? { turn, kind: "compacted", text: `${messagesBefore} to ${messagesAfter} messages, ${tokens}` }
    : { turn, kind: "truncated", text: `old tool arguments, ${tokens}` };
}
