import type { AgentEvent, JsonValue } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { clip, formatBytes, formatCount, formatDuration, plural } from "../terminal/format.js";

/** Kind of a status line: about a tool, about the harness, or about a problem. */
type StatusKind = "tool" | "note" | "problem";

/** Line about an event; its text may hold control characters. */
export interface StatusLine {
  readonly kind: StatusKind;
  readonly text: string;
  /** Levels by which it is indented. @default 0 */
  readonly depth?: number | undefined;
  /** It says what to type, and is wrapped where the terminal is too narrow for it; others are cut. */
  readonly isWhole?: boolean | undefined;
}

/** Tools that give a task to a subagent: lines about the task say how they went. */
const delegating: readonly string[] = ["agent_spawn", "agent_send"];

/** Characters of a subagent's label that are shown. */
const LABEL_CHARS = 40;

/** Names a subagent: `researcher "prices"`. */
export function agentTitle(agent: string, label: string | null | undefined): string {
  return label ? `${agent} ${JSON.stringify(clip(label, LABEL_CHARS))}` : agent;
}

/** Describes a call that gives a task to a subagent; null for all others. */
export function delegatedText(name: string, input: JsonValue): string | null {
  if (!delegating.includes(name) || !isRecord(input)) return null;
  const { agent, label, task, to, message } = input as Partial<Record<string, JsonValue>>;
  const [who, what] = [agent ?? to, task ?? message];
  if (typeof who !== "string" || typeof what !== "string") return null;
  return `${agentTitle(who, typeof label === "string" ? label : null)}: ${what}`;
}

/** Describes an event; null for those that are not shown as a status line. */
export function statusLine(event: AgentEvent): StatusLine | null {
  switch (event.type) {
    case "queue_wait":
      return note(`waiting for ${plural(event.ahead, "other call")} of this session`);
    case "tool_call_end":
      return {
        kind: "tool",
        text: `→ ${event.name} ${delegatedText(event.name, event.input) ?? JSON.stringify(event.input)}`,
      };
    case "tool_result": {
      if (event.state === "success" && delegating.includes(event.name)) return null;
      const text = `← ${event.name}: ${event.state}, ${formatDuration(event.durationMs)}`;
      return { kind: event.state === "success" ? "tool" : "problem", text };
    }
    case "tool_result_evicted":
      return note(
        `moved the result of ${event.name} to ${event.reference}, ${formatBytes(event.chars)}`,
      );
    case "compaction_end":
      return note(
        `compacted ${event.messagesBefore} → ${event.messagesAfter} messages, ${formatCount(event.tokensBefore)} → ${formatCount(event.tokensAfter)} tokens, ${formatDuration(event.durationMs)}`,
      );
    case "compaction_failed":
      return problem(`compaction failed: ${event.error}`);
    case "compaction_warning":
      return problem(event.warning);
    case "overflow_recovery":
      return event.recovered
        ? note("the request was longer than the model's window; compacted and sent again")
        : null;
    case "memory_flush_end":
      return event.entries > 0 ? note(`noted ${plural(event.entries, "fact")} for later`) : null;
    case "memory_flush_failed":
      return problem(`the long-term memory was not updated: ${event.error}`);
    case "consolidation":
      if (event.state === "failed")
        return problem(`the long-term memory was not consolidated: ${event.error ?? ""}`);
      return event.state === "end" ? note("consolidated the long-term memory") : null;
    case "model_call_end":
      // A stopped call did not fail.
      return event.error === undefined || event.error === "stopped"
        ? null
        : problem(`a model call failed: ${event.error}`);
    case "attempt_discarded":
      return note(
        event.reason === "failed"
          ? "the reply broke off and does not count"
          : `the reply ${event.reason === "retry" || event.reason === "overflow" ? "broke off and" : "was not usable and"} does not count; asking again`,
      );
    case "store_rolled_back":
      return problem(
        "the store was rolled back to an earlier state: saves it had confirmed are lost",
      );
    case "repaired":
      return problem(`repaired ${plural(event.repairs.length, "tool call")} without a result`);
    case "interrupted":
      return note("interrupted; what was said is kept");
    default:
      return null;
  }
}

function note(text: string): StatusLine {
  return { kind: "note", text };
}

function problem(text: string): StatusLine {
  return { kind: "problem", text };
}
