import type { RuntimeContext } from "../context/runtime-context.js";
import type { Confirmation, QuestionAnswer } from "../engine/call-input.js";
import type { PendingCall } from "../events/agent-reply.js";
import type { Slot } from "../slot/slot.js";
import type { ToolCallContext } from "./tool-call-context.js";

/** Tool call that runs another agent, and the session it was made in. */
export interface DelegatingCall {
  readonly slot: Slot;
  readonly toolCallId: string;
  readonly ctx: RuntimeContext;
}

/**
 * Passes on what another agent asks a person: for tools that run one.
 *
 * Contract:
 * - A call that ended with {@link suspend} waits for what `pending` lists. The reply, `agent.pending` and `permission_ask` show
 *   these calls as the session's own, and `{ confirm }` about them is passed to `answer`, `{ answers }` to `answerQuestions`.
 * - Both find the other agent by the tool call alone: the process that gets the answers may be another one.
 * - A suspended call for which `pending` lists nothing any more, because it was answered elsewhere, runs again with the
 *   session's next call.
 */
export interface ToolDelegation<Input = never> {
  /** Returns the tool calls of the other agent that wait for a person; none when it does not wait. */
  pending(input: Input, call: DelegatingCall): Promise<readonly PendingCall[]>;
  /** Passes answers on and goes on with the call; returns what `execute` would. Rules to remember are not among them. */
  answer(answers: readonly Confirmation[], input: Input, ctx: ToolCallContext): unknown;
  /** As `answer`, with answers to questions among what `pending` lists. @default such questions cannot be answered */
  answerQuestions?(answers: readonly QuestionAnswer[], input: Input, ctx: ToolCallContext): unknown;
}
