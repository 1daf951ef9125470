import type { Message } from "@holdfast/core";

/** Whether the user said something here: hints are the system's, and some programs send results as the user. */
function isRequest({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type === "text" || type === "data");
}

/** Indices of the messages with which the user asked for what is being done now: the last run of them. */
export function currentRequest(messages: readonly Message[]): readonly number[] {
  const last = messages.findLastIndex(isRequest);
  const indices: number[] = [];
  for (let index = last; index >= 0 && isRequest(messages[index] as Message); index--)
    indices.unshift(index);
  return indices;
}
