import { type Block, type Message, type Repair, toolCallsOf, toolResultsOf } from "../values.js";

export const isOther = (block: Block) => block.type !== "tool_call" && block.type !== "tool_result";
const isResultsOnly = (message: Message | undefined) =>
  message?.role === "tool" &&
  message.content.length > 0 &&
  message.content.every((block) => block.type === "tool_result");
export const callIds = (messages: readonly Message[]) =>
  messages.flatMap((message) => toolCallsOf(message).map((call) => call.id));
export const results = (messages: readonly Message[]) => messages.flatMap(toolResultsOf);
export const ofKind = (repairs: readonly Repair[], kind: Repair["kind"]) =>
  repairs.filter((repair) => repair.kind === kind).map((repair) => repair.toolCallId);

/** The first result after each call, and the index of its message. */
export function answersTo(messages: readonly Message[]): Map<string, { block: Block; at: number }> {
  const called = new Set<string>();
  const answers = new Map<string, { block: Block; at: number }>();
  for (const [at, message] of messages.entries())
    for (const block of message.content)
      if (block.type === "tool_call") called.add(block.id);
      else if (block.type === "tool_result" && called.has(block.toolCallId))
        if (!answers.has(block.toolCallId)) answers.set(block.toolCallId, { block, at });
  return answers;
}

/** Whether everything between a call's message and message `at` (included) is nothing but results. */
export function standsBehind(messages: readonly Message[], caller: number, at: number): boolean {
  return at > caller && messages.slice(caller + 1, at + 1).every(isResultsOnly);
}

/** The rules of a model request, said once more and differently from how the code says them. */
export function pairingFaults(messages: readonly Message[], open: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  const ids = callIds(messages);
  if (new Set(ids).size !== ids.length) faults.push("a call id appears twice");
  const messageIds = messages.map((message) => message.id);
  if (new Set(messageIds).size !== messageIds.length) faults.push("a message id appears twice");
  const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
  for (const [caller, message] of messages.entries())
    for (const call of toolCallsOf(message)) {
      const carriers = messages.flatMap((other, at) =>
        toolResultsOf(other).flatMap((result) => (result.toolCallId === call.id ? [at] : [])),
      );
      const mayBeOpen = caller === lastAssistant && open.has(call.id);
      if (carriers.length > 1 || (carriers.length === 0 && !mayBeOpen))
        faults.push(`${call.id} has ${carriers.length} results`);
      if (carriers.some((at) => !standsBehind(messages, caller, at)))
        faults.push(`the result of ${call.id} is not directly behind it`);
    }
  for (const result of results(messages))
    if (!ids.includes(result.toolCallId)) faults.push(`${result.toolCallId} was never called`);
  return faults;
}
