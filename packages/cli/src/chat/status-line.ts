import type { AgentEvent } from "@holdfast/core";
import { formatBytes, formatCount, formatDuration, plural } from "../terminal/format.js";

/** How much a line matters: what a tool did, what the harness did, or what went wrong. */
export type StatusKind = "tool" | "note" | "trouble";

/** One line about something that happened; its text may hold anything. */
export interface StatusLine {
  readonly kind: StatusKind;
  readonly text: string;
}

/** What to say about an event, if anything: text of the reply is shown elsewhere. */
export function statusLine(event: AgentEvent): StatusLine | null {
  switch (event.type) {
    case "queue_wait":
      return note(`waiting for ${plural(event.ahead, "other call")} of this session`);
    case "tool_call_end":
      return { kind: "tool", text: `→ ${event.name} ${JSON.stringify(event.input)}` };
    case "tool_result": {
      const text = `← ${event.name}: ${event.state}, ${formatDuration(event.durationMs)}`;
      return { kind: event.state === "success" ? "tool" : "trouble", text };
    }
    case "tool_result_evicted":
      return note(
        `put aside the result of ${event.name}, ${formatBytes(event.chars)}: ${event.reference}`,
      );
    case "compaction_end":
      return note(
        `compacted ${event.messagesBefore} → ${event.messagesAfter} messages, ${formatCount(event.tokensBefore)} → ${formatCount(event.tokensAfter)} tokens, ${formatDuration(event.durationMs)}`,
      );
    case "compaction_failed":
      return trouble(`compaction failed: ${event.error}`);
    case "overflow_recovery":
      return event.recovered
        ? note("the request was longer than the model's window; made room and sent it again")
        : null;
    case "memory_flush_end":
      return event.entries > 0 ? note(`noted ${plural(event.entries, "fact")} for later`) : null;
    case "memory_flush_failed":
      return trouble(`nothing was noted: ${event.error}`);
    case "consolidation":
      if (event.state === "failed") return trouble(`memory not put in order: ${event.error ?? ""}`);
      return event.state === "end" ? note("put the memory in order") : null;
    case "model_call_end":
      // One that was stopped did not fail.
      return event.error === undefined || event.error === "stopped"
        ? null
        : trouble(`a call of the model failed: ${event.error}`);
    case "store_rolled_back":
      return trouble(
        "the store went back to an earlier state: saves that it had confirmed are gone",
      );
    case "repaired":
      return trouble(`repaired ${plural(event.repairs.length, "tool call")} without a result`);
    case "interrupted":
      return note("interrupted; what was said is kept");
    default:
      return null;
  }
}

function note(text: string): StatusLine {
  return { kind: "note", text };
}

function trouble(text: string): StatusLine {
  return { kind: "trouble", text };
}
