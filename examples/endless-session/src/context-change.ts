import type { AgentEvent } from "@holdfast/core";

/** Something that was done about the size of the context. */
export interface ContextChange {
  readonly turn: number;
  readonly kind: "summary" | "truncation" | "eviction" | "recovery" | "failure";
  readonly text: string;
}

/** Returns what an event tells about the context's size; null for all other events. */
export function contextChangeOf(event: AgentEvent, turn: number): ContextChange | null {
  switch (event.type) {
    case "compaction_end": {
      const { cause, actions, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = event;
      const kind = actions.includes("summary") ? "summary" : "truncation";
      const tokens = `${figure(tokensBefore)} → ${figure(tokensAfter)} tokens`;
      const how =
        kind === "truncation"
          ? "long arguments of old tool calls clipped, no model asked"
          : `${messagesBefore} → ${messagesAfter} messages${cause === "overflow" ? ", after a refusal" : ""}`;
      return { turn, kind, text: `${tokens}, ${how}` };
    }
    case "tool_result_evicted":
      return {
        turn,
        kind: "eviction",
        text: `${figure(event.chars)} characters of ${event.name} to ${event.reference}`,
      };
    case "overflow_recovery":
      return event.recovered
        ? {
            turn,
            kind: "recovery",
            text: "a request refused as too long was shortened and sent again",
          }
        : { turn, kind: "failure", text: "refused as too long, and could not be shortened" };
    case "compaction_failed":
      return { turn, kind: "failure", text: event.error };
    default:
      return null;
  }
}

/** A number with its thousands apart. */
export function figure(value: number): string {
  return value.toLocaleString("en-GB");
}
