import type { ToolCallBlock } from "../../message/message.js";
import { toolCallsOf } from "../../message/read-message.js";
import type { AgentState } from "../../state/agent-state.js";
import type { LiveState } from "../../state/live-state.js";
import type { OpenCallState, OpenQuestion } from "../../state/sections.js";

/** A tool call without a result, and how far it has come. */
export interface OpenCall {
  readonly call: ToolCallBlock;
  readonly state: OpenCallState;
}

/** Returns the unanswered calls of the last message that has any, with their state. */
export function openCallsOf({ openCalls, context }: AgentState): readonly OpenCall[] {
  if (Object.keys(openCalls).length === 0) return [];
  const isOpen = ({ id }: ToolCallBlock) => Object.hasOwn(openCalls, id);
  // A program may have added messages behind it.
  const last = context.findLast((message) => toolCallsOf(message).some(isOpen));
  return (last ? toolCallsOf(last) : []).flatMap((call) => {
    const state = isOpen(call) ? openCalls[call.id] : undefined;
    return state === undefined ? [] : [{ call, state }];
  });
}

/** Returns what an open call has asked a person, and the answers so far; undefined when it has neither asked nor suspended. */
export function questionOf(
  { questions }: Pick<LiveState, "questions">,
  { id }: Pick<ToolCallBlock, "id">,
): OpenQuestion | undefined {
  return Object.hasOwn(questions, id) ? questions[id] : undefined;
}

/** Tells whether an open call has run and waits for its result from outside; those of earlier releases left no sign of it. */
export function isSuspended(state: Pick<LiveState, "questions">, open: OpenCall): boolean {
  return open.state === "pending" && questionOf(state, open.call) !== undefined;
}
