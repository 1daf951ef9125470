import type { AgentEvent } from "@holdfast/core";
import type { Span } from "@opentelemetry/api";
import { attribute } from "../names.js";
import type { SpanClock } from "../span-clock.js";

/** Adds a notable moment of a call to its span as an event, with numbers and names but no contents. */
export function addMilestone(span: Span, event: AgentEvent, clock: SpanClock): void {
  switch (event.type) {
    case "store_rolled_back":
      span.addEvent("holdfast.store_rolled_back", {}, clock.now());
      break;
    case "repaired":
      span.addEvent("holdfast.repaired", { "holdfast.repairs": event.repairs.length }, clock.now());
      break;
    case "overflow_recovery":
      span.addEvent(
        "holdfast.overflow_recovery",
        { "holdfast.recovered": event.recovered },
        clock.now(),
      );
      break;
    case "permission_ask":
      span.addEvent(
        "holdfast.permission_ask",
        { "holdfast.pending_calls": event.pending.length },
        clock.now(),
      );
      break;
    case "tool_suspended":
      span.addEvent(
        "holdfast.tool_suspended",
        { "holdfast.pending_calls": event.pending.length },
        clock.now(),
      );
      break;
    case "takeover":
      span.addEvent("holdfast.takeover", { [attribute.rolledBack]: event.rolledBack }, clock.now());
      break;
    case "run_resumed":
      span.addEvent(
        "holdfast.run_resumed",
        { [attribute.resumedReason]: event.reason },
        clock.now(),
      );
      break;
    case "attempt_discarded":
      span.addEvent(
        "holdfast.attempt_discarded",
        {
          [attribute.discardReason]: event.reason,
          [attribute.attempt]: event.attempt,
          "holdfast.chars": event.textChars + event.thinkingChars,
        },
        clock.now(),
      );
      break;
    case "interrupted":
      span.addEvent("holdfast.interrupted", { [attribute.interruptKind]: event.kind }, clock.now());
      break;
    case "tool_result_evicted":
      span.addEvent(
        "holdfast.tool_result_evicted",
        {
          [attribute.toolName]: event.name,
          "holdfast.chars": event.chars,
        },
        clock.now(),
      );
      break;
    case "tool_result":
      // A call that ran has a span. The name of one that did not run may be invented by the model.
      if (event.durationMs === 0)
        span.addEvent("holdfast.tool_result", { [attribute.toolState]: event.state }, clock.now());
      break;
  }
}
