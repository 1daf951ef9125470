import type { PendingCall } from "../../events/agent-reply.js";
import type { ToolCallBlock } from "../../message/message.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
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
  const lists = await Promise.all(
    waiting.map(async ({ call, state }): Promise<readonly PendingCall[]> => {
      const told = known.find(({ toolCallId }) => toolCallId === call.id);
      if (told) return [told];
      if (state === "asking") return [await asksAgain(scope, call)];
      return suspendedCalls(scope, call);
    }),
  );
  return lists.flat();
}

/** Returns what a suspended call waits for: the answers that another agent needs, or its own result. */
export async function suspendedCalls(
  scope: Pick<GuardedScope, "parts" | "slot" | "ctx">,
  call: ToolCallBlock,
  reason?: string,
): Promise<readonly PendingCall[]> {
  const tool = scope.parts.tools.get(call.name);
  const asked = tool?.delegation ? await delegatedAsks(scope, call, tool) : [];
  if (asked.length > 0) return asked;
  const { id: toolCallId, name, input } = call;
  const about = { toolCallId, name, input, state: "suspended" } as const;
  return [{ ...about, ...(reason !== undefined && { reason }) }];
}

/** Returns the calls of another agent that ask a person through a tool call that runs it. */
export async function delegatedAsks(
  { slot, ctx }: Pick<GuardedScope, "slot" | "ctx">,
  call: ToolCallBlock,
  { delegation, input: schema }: Tool,
): Promise<readonly PendingCall[]> {
  const checked = await validateInput(schema, call.input);
  if (!delegation || checked.problem !== undefined) return [];
  return delegation.pending(checked.value as never, { slot, toolCallId: call.id, ctx });
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
