import type { Slot } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";

/**
 * What a memory goes by in leases and watermarks: the user, or the session where there is none, whichever agent is at work,
 * because that is whose files they are.
 */
export function memorySlot({ userId, sessionId }: FileNamespace): Slot {
  return {
    agentId: "holdfast.memory",
    userId,
    sessionId: userId === null ? sessionId : "memory",
  };
}
