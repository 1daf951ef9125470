import { type Message, repairToolPairs } from "@holdfast/core";

/** Why a provider would not accept these messages. */
export function requestProblems(messages: readonly Message[]): string[] {
  const problems = repairToolPairs(messages).repairs.map(
    ({ kind, toolCallId }) => `${kind.replace("_", " ")} of tool call ${toolCallId}`,
  );
  const first = messages[0]?.role;
  if (first !== "user") problems.push(`the first message is of role ${first ?? "none"}`);
  if (messages.some(({ content }) => content.length === 0)) problems.push("a message is empty");
  return problems;
}

/** Tells whether the user's words are among the messages; a quotation in a summary does not count. */
export function saysUser(messages: readonly Message[], words: string): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "user" && content.some((block) => block.type === "text" && block.text === words),
  );
}
