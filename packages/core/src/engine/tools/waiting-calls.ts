import type { PendingCall } from "../../events/agent-reply.js";
import type { ToolCallBlock } from "../../message/message.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
import { askAgain, askingCall, type GuardedScope } from "./judge-call.js";
import { openCallsOf, questionOf } from "./open-calls.js";

/**
 * Returns the tool calls that wait for an answer, as replies list them, in the order of the model: those that ask, and those
 * whose result comes from outside.
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
  scope: GuardedScope,
  call: ToolCallBlock,
  words?: string,
): Promise<readonly PendingCall[]> {
  const tool = scope.parts.tools.get(call.name);
  const asked = tool?.delegation ? await delegatedAsks(scope, call, tool) : [];
  if (asked.length > 0) return asked;
  const { id: toolCallId, name, input } = call;
  const entry = questionOf(scope.session.state, call);
  const { asked: question, reason = words, answers = [] } = entry ?? {};
  return [
    {
      ...{ toolCallId, name, input, state: "suspended" },
      ...(reason !== undefined && { reason }),
      ...(question && { question, questionNumber: answers.length + 1 }),
    },
  ];
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

/** Tells whether only a person can answer a call: it asks for an approval, or has a question. */
export function asksPerson({ state, question }: PendingCall): boolean {
  return state === "asking" || question !== undefined;
}

/** Returns the calls that one input can answer: those that ask, or else those whose result comes from outside. */
export function answerableTogether(waiting: readonly PendingCall[]): readonly PendingCall[] {
  const asking = waiting.filter(({ state }) => state === "asking");
  return asking.length > 0 ? asking : waiting;
}

async function asksAgain(scope: GuardedScope, call: ToolCallBlock): Promise<PendingCall> {
  const tool = scope.parts.tools.get(call.name);
  return askingCall(call, tool && (await askAgain(scope, call, tool)));
}
