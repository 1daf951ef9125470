import type { PendingCall } from "../../events/agent-reply.js";
import type { CallScope } from "../call-scope.js";
import { openCallsOf } from "./close-calls.js";

/**
 * Returns the tool calls that wait for an answer, as replies list them: those that ask, or else those whose result comes
 * from outside. Calls that may run, and only wait for the others, are not among them.
 *
 * The guard is asked again for its reason and its suggestions, which the state does not keep.
 */
export async function waitingCalls({
  parts,
  session,
  ctx,
}: Pick<CallScope, "parts" | "session" | "ctx">): Promise<readonly PendingCall[]> {
  const open = openCallsOf(session.state);
  const asking = open.filter(({ state }) => state === "asking");
  if (asking.length === 0)
    return open
      .filter(({ state }) => state === "pending")
      .map(({ call: { id: toolCallId, name, input } }) => ({
        ...{ toolCallId, name, input },
        state: "suspended",
      }));
  return Promise.all(
    asking.map(async ({ call }): Promise<PendingCall> => {
      const { id: toolCallId, name, input } = call;
      const tool = parts.tools.get(name);
      const decision = tool && (await parts.guard.check({ call, tool, ctx }));
      return {
        ...{ toolCallId, name, input, state: "asking" },
        ...(decision?.decision === "ask" && {
          reason: decision.reason,
          ...(decision.suggestions && { suggestions: decision.suggestions }),
        }),
      };
    }),
  );
}
