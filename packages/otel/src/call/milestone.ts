import type { AgentEvent } from "@holdfast/core";
import type { Span } from "@opentelemetry/api";
import { attribute } from "../names.js";
import type { SpanClock } from "../span-clock.js";

/** Puts what is worth seeing in a call, and takes no time, on its span as an event; numbers and names, no contents. */
export function milestone(span: Span, event: AgentEvent, clock: SpanClock): void {
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
      // One that ran has a span; the name of one that did not may be the model's invention.
      if (event.durationMs === 0)
        span.addEvent("holdfast.tool_result", { [attribute.toolState]: event.state }, clock.now());
      break;
  }
}
