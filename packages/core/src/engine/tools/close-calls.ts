import { createMessage } from "../../message/create-message.js";
import type {
  Message,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultState,
} from "../../message/message.js";
import { toolCallsOf } from "../../message/read-message.js";
import type { AgentState } from "../../state/agent-state.js";
import type { OpenCallState } from "../../state/sections.js";
import type { CallScope } from "../call-scope.js";
import { emitResult, textResult } from "./tool-results.js";

/** The part of a session that {@link closeCalls} uses. */
interface CallCloser {
  readonly state: AgentState;
  readonly log: { readonly now: () => Date };
  say(message: Message): void;
}

/** Returns the unanswered calls of the last assistant message, with their state. */
export function openCallsOf(
  state: AgentState,
): readonly { readonly call: ToolCallBlock; readonly state: OpenCallState }[] {
  if (Object.keys(state.openCalls).length === 0) return [];
  const last = state.context.findLast(({ role }) => role === "assistant");
  return (last ? toolCallsOf(last) : []).flatMap((call) => {
    const open = Object.hasOwn(state.openCalls, call.id) ? state.openCalls[call.id] : undefined;
    return open === undefined ? [] : [{ call, state: open }];
  });
}

/** Settings of {@link closeCalls}. */
interface CloseOptions {
  /** Picks the calls to answer. @default every one */
  readonly which?: ((state: OpenCallState, call: ToolCallBlock) => boolean) | undefined;
  /** Text of the answers. @default what their state says */
  readonly text?: string | undefined;
  /** @default "interrupted" */
  readonly resultState?: ToolResultState | undefined;
}

/** Text of a call that another process may have started. */
export const UNKNOWN_OUTCOME_TEXT =
  "This call was interrupted; if it had started, its outcome is unknown.";

/** Answers open calls that will not run, and tells listeners of the running call. */
export function endToolCalls(scope: CallScope, options: CloseOptions = {}): void {
  for (const result of closeCalls(scope.session, options)) emitResult(scope, result);
}

/** Answers open calls that will not run. @returns the answers */
export function closeCalls(
  session: CallCloser,
  options: CloseOptions = {},
): readonly ToolResultBlock[] {
  const { which = () => true, text, resultState = "interrupted" } = options;
  const results: ToolResultBlock[] = [];
  for (const { call, state } of openCallsOf(session.state)) {
    if (!which(state, call)) continue;
    delete session.state.openCalls[call.id];
    results.push(textResult(call, text ?? textOf(state), resultState));
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
