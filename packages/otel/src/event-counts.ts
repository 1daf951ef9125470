import type { AgentEvent } from "@holdfast/core";
import { attribute } from "./names.js";
import type { Telemetry } from "./telemetry.js";

/** Counts an event that has a counter, of a call or of background work. */
export function countEvent(telemetry: Telemetry, event: AgentEvent): void {
  const { instruments } = telemetry;
  const labels = { [attribute.agentName]: telemetry.agentOf(event.slot).name };
  switch (event.type) {
    case "queue_wait":
      instruments.queueWaits.add(1, labels);
      break;
    case "interrupted":
      instruments.interrupts.add(1, { ...labels, [attribute.interruptKind]: event.kind });
      break;
    case "takeover":
      instruments.takeovers.add(1, { ...labels, [attribute.rolledBack]: event.rolledBack });
      break;
    case "run_resumed":
      instruments.resumedRuns.add(1, { ...labels, [attribute.resumedReason]: event.reason });
      break;
    case "run_recovered":
      instruments.recoveries.add(1, { ...labels, [attribute.recoveryOutcome]: "recovered" });
      break;
    case "run_recovery_failed": {
      const outcome = event.gaveUp ? "given_up" : "failed";
      instruments.recoveries.add(1, { ...labels, [attribute.recoveryOutcome]: outcome });
      break;
    }
    case "permission_ask":
      instruments.asks.add(event.pending.length, { ...labels, [attribute.askKind]: "permission" });
      break;
    case "tool_suspended":
      instruments.asks.add(event.pending.length, { ...labels, [attribute.askKind]: "result" });
      break;
    case "attempt_discarded":
      instruments.discardedAttempts.add(1, { ...labels, [attribute.discardReason]: event.reason });
      break;
    case "store_rolled_back":
      instruments.rollbacks.add(1, labels);
      break;
    case "tool_result_evicted":
      instruments.evictions.add(1, { ...labels, [attribute.toolName]: event.name });
      break;
  }
}
