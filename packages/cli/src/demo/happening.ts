import type { AgentEvent } from "@holdfast/core";
import { figure } from "./figure.js";

/** Something worth telling that happened in a turn. */
export interface Happening {
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

/** What an event tells; null for the many that are the day's work. */
export function happeningOf(event: AgentEvent, turn: number): Happening | null {
  switch (event.type) {
    case "tool_result_evicted":
      return {
        turn,
        kind: "evicted",
        text: `${figure(event.chars)} characters of ${event.name}, kept as a file`,
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
): Happening {
  const { actions, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = event;
  const tokens = `${figure(tokensBefore)} to ${figure(tokensAfter)} tokens`;
  return actions.includes("summary")
    ? { turn, kind: "compacted", text: `${messagesBefore} to ${messagesAfter} messages, ${tokens}` }
    : { turn, kind: "truncated", text: `old tool arguments, ${tokens}` };
}
