import type { Slot } from "@holdfast/core";
import { type Caller, isSameSession } from "./caller.js";

/** Names of the tools. */
export const LIST = "session_list";
export const HISTORY = "session_history";
export const SEARCH = "session_search";

const names: ReadonlySet<string> = new Set([LIST, HISTORY, SEARCH]);

/** Tells whether a tool is one of these: its results repeat what the log says elsewhere. */
export function isSessionTool(name: string): boolean {
  return names.has(name);
}

/** Arguments of a tool, in the order in which they are shown. */
export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** Describes a tool call so that a model can copy it: `session_history with at: 5100, offset: 2000`. */
export function describeCall(toolName: string, args: Arguments): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  if (given.length === 0) return toolName;
  return `${toolName} with ${given.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")}`;
}

/** Returns the arguments that name a session; none for the session of the call. */
export function sessionArguments({ slot }: Caller, requested: Slot): Arguments {
  if (isSameSession(slot, requested)) return {};
  return {
    sessionId: requested.sessionId,
    agentId: requested.agentId === slot.agentId ? undefined : requested.agentId,
  };
}
