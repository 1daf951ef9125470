import { type Confirmation, InvalidInputError, type PendingCall } from "@holdfast/core";

/**
 * Checks the answers of a program to what a background task asks. Passed on to the subagent, wrong ones would end its run.
 *
 * @throws InvalidInputError
 */
export function checkConfirm(
  taskId: string,
  asked: readonly PendingCall[],
  answers: readonly Omit<Confirmation, "remember">[],
): void {
  const refuse = (problem: string): never => {
    throw new InvalidInputError(`subagents: confirm, about task ${taskId}: ${problem}`);
  };
  const approvals = asked.filter(({ question }) => question === undefined);
  const asks = `it asks about ${approvals.map(({ toolCallId }) => toolCallId).join(", ") || "none"}`;
  if (answers.length === 0) refuse(`there is no answer; ${asks}`);
  const seen = new Set<string>();
  for (const { toolCallId, approve } of answers) {
    const call = `tool call ${JSON.stringify(toolCallId)}`;
    const known = asked.find((one) => one.toolCallId === toolCallId);
    if (known?.question)
      refuse(
        `${call} is a question, which approve does not answer; let the agent ask it, with task_output, and answer that with agent.call({ answers })`,
      );
    if (!known) refuse(`it does not ask about ${call}; ${asks}`);
    if (typeof approve !== "boolean") refuse(`approve of ${call} must be true or false`);
    if (seen.has(toolCallId)) refuse(`${call} is answered twice`);
    seen.add(toolCallId);
  }
}
