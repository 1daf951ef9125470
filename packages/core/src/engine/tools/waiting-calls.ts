import type { PendingCall } from "../../events/agent-reply.js";
import type { ToolCallBlock } from "../../message/message.js";
import { validateInput } from "../../tool/input-schema.js";
import { openCallsOf } from "./close-calls.js";
import { askingCall, type GuardedScope, guardedCall } from "./judge-call.js";

/**
 * Returns the tool calls that wait for an answer, as replies list them, in the order of the model: those that ask, and those
 * whose result comes from outside.
 *
 * The guard is asked again for its reason and its suggestions, which the state does not keep.
 *
 * @param known - calls whose reason is known
 */
export async function waitingCalls(
  scope: GuardedScope,
  known: readonly PendingCall[] = [],
): Promise<readonly PendingCall[]> {
  const waiting = openCallsOf(scope.session.state).filter(
    ({ state }) => state === "asking" || state === "pending",
  );
  return Promise.all(
    waiting.map(async ({ call, state }): Promise<PendingCall> => {
      const told = known.find(({ toolCallId }) => toolCallId === call.id);
      if (told) return told;
      const { id: toolCallId, name, input } = call;
      return state === "asking"
        ? asksAgain(scope, call)
        : { toolCallId, name, input, state: "suspended" };
    }),
  );
}

/** Returns the calls that one input can answer: those that ask, or else those whose result comes from outside. */
export function answerableTogether(waiting: readonly PendingCall[]): readonly PendingCall[] {
  const asking = waiting.filter(({ state }) => state === "asking");
  return asking.length > 0 ? asking : waiting;
}

async function asksAgain(scope: GuardedScope, call: ToolCallBlock): Promise<PendingCall> {
  const { guard, tools } = scope.parts;
  const tool = tools.get(call.name);
  if (!tool) return askingCall(call, undefined);
  const checked = await validateInput(tool.input, call.input);
  const value = checked.problem === undefined ? checked.value : call.input;
  return askingCall(call, await guard.check(guardedCall(scope, call, tool, value)));
}
