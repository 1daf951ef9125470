import type { Slot } from "@holdfast/core";

/** The slot most cases use. */
export const sampleSlot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
