import type { AiSdkVersion, UiFinishReason } from "./ui-chunk.js";
import type { TurnStatus } from "./ui-message.js";

/** Returns the status of a turn by the reason with which its last call ended. */
export function statusOf(reason: string): TurnStatus {
  if (reason === "permission_asking" || reason === "tool_suspended") return "waiting";
  if (reason === "interrupted" || reason === "shutdown") return "interrupted";
  return reason === "error" ? "error" : "complete";
}

/** Returns the reason of the last chunk; a client fails at one that its version does not know. */
export function finishReasonOf(
  status: TurnStatus,
  reason: string,
  version: AiSdkVersion,
): UiFinishReason {
  if (status === "waiting") return "tool-calls";
  if (status === "interrupted") return version === 7 ? "interrupted" : "other";
  return reason === "stop" || reason === "structured_output" ? "stop" : "other";
}
