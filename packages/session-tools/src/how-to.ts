import type { Slot } from "@holdfast/core";
import { type Caller, isSame } from "./caller.js";

/** Arguments of a tool, in the order in which they are shown. */
export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** How to call a tool, in words that can be copied: `session_history with at: 5100, offset: 2000`. */
export function howTo(toolName: string, args: Arguments): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  if (given.length === 0) return toolName;
  return `${toolName} with ${given.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")}`;
}

/** The arguments that name a session; none for the one the caller is in. */
export function sessionArguments({ slot }: Caller, wished: Slot): Arguments {
  if (isSame(slot, wished)) return {};
  return {
    sessionId: wished.sessionId,
    agentId: wished.agentId === slot.agentId ? undefined : wished.agentId,
  };
}
