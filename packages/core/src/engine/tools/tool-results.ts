import { createMessage } from "../../message/create-message.js";
import type { ToolCallBlock, ToolResultBlock, ToolResultState } from "../../message/message.js";
import type { CallScope } from "../call-scope.js";
import { fitResults } from "./fit-results.js";

/** Returns a result that is one text. */
export function textResult(
  call: ToolCallBlock,
  text: string,
  state: ToolResultState,
): ToolResultBlock {
  return {
    type: "tool_result",
    toolCallId: call.id,
    name: call.name,
    output: [{ type: "text", text }],
    state,
  };
}

/** Emits a result's event; `durationMs` is 0 for a call that did not run here. */
export function emitResult(
  scope: CallScope,
  { toolCallId, name, state }: ToolResultBlock,
  durationMs = 0,
): void {
  scope.emit({ type: "tool_result", toolCallId, name, state, durationMs });
}

/**
 * Adds one message with `results` to the context, and their calls are open no more.
 *
 * @param originals - the same results as the tools gave them, which the log keeps
 */
export function addResults(
  { parts, session }: CallScope,
  results: readonly ToolResultBlock[],
  originals: readonly ToolResultBlock[] = results,
): void {
  if (results.length === 0) return;
  const original = createMessage("tool", originals, { createdAt: parts.now() });
  const { id, createdAt } = original;
  const isChanged = results.some((result, index) => result !== originals[index]);
  const message = isChanged ? createMessage("tool", results, { id, createdAt }) : original;
  session.say(fitResults(message, parts.settings.limits.messageBytes), original);
  for (const { toolCallId } of results) delete session.state.openCalls[toolCallId];
}
