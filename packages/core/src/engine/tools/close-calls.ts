import { createMessage } from "../../message/create-message.js";
import type {
  Message,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultState,
} from "../../message/message.js";
import type { LiveState } from "../../state/live-state.js";
import type { OpenCallState } from "../../state/sections.js";
import type { CallScope } from "../call-scope.js";
import { isSuspended, openCallsOf } from "./open-calls.js";
import { emitResult, textResult } from "./tool-results.js";

/** The part of a session that {@link closeCalls} uses. */
interface CallCloser {
  readonly state: LiveState;
  readonly log: { readonly now: () => Date };
  say(message: Message): void;
}

/** Settings of {@link closeCalls}. */
interface CloseOptions {
  /** Picks the calls to answer. @default every one */
  readonly which?: ((state: OpenCallState, call: ToolCallBlock) => boolean) | undefined;
  /** Text of the answers; a suspended call has run, and is told so all the same. @default what their state says */
  readonly text?: string | undefined;
  /** @default "interrupted" */
  readonly resultState?: ToolResultState | undefined;
}

/** Text of a call that another process may have started. */
export const UNKNOWN_OUTCOME_TEXT =
  "This call was interrupted; if it had started, its outcome is unknown.";

const SUSPENDED_TEXT =
  "This call had begun and waited for a result from outside, which nothing waits for any more: its outcome is unknown.";

/** Answers open calls that will not run, and tells listeners of the running call. */
export function endToolCalls(scope: CallScope, options: CloseOptions = {}): void {
  const { notBegun, session } = scope;
  const text = (state: OpenCallState, { id }: ToolCallBlock) =>
    options.text ?? (notBegun.has(id) ? textOf("allowed") : textOf(state));
  for (const result of answerCalls(session, options, text)) emitResult(scope, result);
}

/** Answers open calls that will not run. */
export function closeCalls(session: CallCloser, options: CloseOptions = {}): void {
  answerCalls(session, options, (state) => options.text ?? textOf(state));
}

function answerCalls(
  session: CallCloser,
  { which = () => true, resultState = "interrupted" }: CloseOptions,
  textFor: (state: OpenCallState, call: ToolCallBlock) => string,
): readonly ToolResultBlock[] {
  const results: ToolResultBlock[] = [];
  for (const open of openCallsOf(session.state)) {
    const { call, state } = open;
    if (!which(state, call)) continue;
    results.push(
      isSuspended(session.state, open)
        ? textResult(call, SUSPENDED_TEXT, resultState)
        : textResult(call, textFor(state, call), resultState),
    );
    delete session.state.openCalls[call.id];
  }
  if (results.length > 0)
    session.say(createMessage("tool", results, { createdAt: session.log.now() }));
  return results;
}

function textOf(state: OpenCallState): string {
  switch (state) {
    case "asking":
      return "This call was not run: it asked for an approval, and was interrupted before there was an answer.";
    case "allowed":
      return "This call was not run: it was interrupted before it could start.";
    default:
      return UNKNOWN_OUTCOME_TEXT;
  }
}
