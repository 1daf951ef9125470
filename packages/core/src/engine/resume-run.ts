import type { AgentReply } from "../events/agent-reply.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { Call, RESUME } from "./call.js";
import { resumeOptions } from "./method-options.js";
import { unfinishedCall } from "./session/run-records.js";
import type { NamedSession } from "./session/session-arguments.js";
import { NothingToResume } from "./turn.js";

/** Goes on with the unfinished run of a session, or with that of one of its calls; null when there is no such run. */
export async function resumeRun(
  parts: AgentParts,
  { slot, ctx, rest }: NamedSession,
): Promise<AgentReply | null> {
  const options = resumeOptions(rest[0]);
  const callId = options.callId ?? (await unfinishedCall(parts, slot));
  if (callId === null) return null;
  try {
    return await new Call(parts, RESUME, ctx.child({ ...options, callId }), null).run();
  } catch (error) {
    if (error instanceof NothingToResume) return null;
    throw error;
  }
}
