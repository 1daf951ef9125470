import { type AttachedRun, ConfigurationError } from "@holdfast/core";
import type { ServedAgent } from "../served-agent.js";

/** Returns the call that runs on a session, or the one named; null when there is none, or the agent keeps no events. */
export async function attached(
  agent: Pick<ServedAgent, "attach">,
  userId: string,
  sessionId: string,
  options: { readonly callId?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<AttachedRun | null> {
  try {
    return await agent.attach(userId, sessionId, options);
  } catch (error) {
    if (ConfigurationError.is(error)) return null;
    throw error;
  }
}

/** Reads on for a reader that has gone: the call does not stop, and its events need not be kept. */
export async function drain(run: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of run);
}
