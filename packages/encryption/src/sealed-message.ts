import type { JsonObject, Message } from "@holdfast/core";
import type { Seals } from "./seals.js";

/**
 * The message a store keeps in the place of one: id, role and time stay, for reports over the store; all that was said is
 * in `sealed`. They are in there too, and what is read is that copy.
 */
export function sealedMessage({ id, role, createdAt }: Message, sealed: JsonObject): Message {
  return { id, role, content: [], createdAt, metadata: sealed };
}

/**
 * The message in one that was sealed.
 *
 * @throws StateCorruptError
 */
export function openMessage(
  seals: Seals,
  message: Message,
  what: string,
  ...record: readonly string[]
): Message {
  const text = seals.open(message?.metadata, what, ...record);
  return text === null ? message : (JSON.parse(text) as Message);
}
