import type { Slot } from "@holdfast/core";

/** Session of a subagent, by the parts of its agent id. */
export interface SubagentSession {
  /** Agent that people talk to: its id comes first in those of all agents that work for it, however deep. */
  readonly owner: string;
  /** Name of the subagent. */
  readonly name: string;
}

/**
 * Recognises the session of a subagent, in which it works on tasks; null for all others. The id of an agent that people talk to
 * may have a slash as well, so that the id of the session has to be that of a task.
 */
export function subagentSession({ agentId, sessionId }: Slot): SubagentSession | null {
  const [, owner, name] = /^(.+)\/([^/]+)$/su.exec(agentId) ?? [];
  if (!owner || !name || !/^task-[0-9a-f]{40}$/u.test(sessionId)) return null;
  return { owner, name };
}
