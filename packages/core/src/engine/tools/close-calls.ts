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
import { textResult } from "./tool-results.js";

/** What {@link closeCalls} needs of a session. */
interface CallCloser {
  readonly state: AgentState;
  readonly log: { readonly now: () => Date };
  say(message: Message): void;
}

/** The unanswered calls of the last assistant message, with their state. */
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

/** Answers open calls that will not run: every one, or those whose state `which` picks. */
export function closeCalls(
  session: CallCloser,
  which: (state: OpenCallState) => boolean = () => true,
  text = "This call was interrupted; if it had started, its outcome is unknown.",
  resultState: ToolResultState = "interrupted",
): void {
  const results: ToolResultBlock[] = [];
  for (const { call, state } of openCallsOf(session.state)) {
    if (!which(state)) continue;
    delete session.state.openCalls[call.id];
    results.push(textResult(call, text, resultState));
  }
  if (results.length > 0)
    session.say(createMessage("tool", results, { createdAt: session.log.now() }));
}
