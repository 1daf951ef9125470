import { type JsonObject, type Message, type Slot, StateCorruptError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";

/** The raw ids as they are stored with a state, whose key is only a hash of them. */
export function slotField({ agentId, userId, sessionId }: Slot): string {
  return JSON.stringify([agentId, userId, sessionId]);
}

/**
 * What `load_state` answered.
 *
 * @throws StateCorruptError
 */
export function readStoredState(slot: Slot, reply: RedisReply): LoadedState | "unchanged" | null {
  const [kind, first, head, messages] = Array.isArray(reply) ? reply : [];
  if (kind === "absent") return null;
  if (kind === "unchanged") return kind;
  if (kind !== "state" || !Array.isArray(messages)) throw corruptState(slot, String(first));
  return {
    revision: String(first),
    head: parse(slot, head, "its head") as JsonObject,
    messages: messages.map((text, index) => parse(slot, text, `message ${index}`) as Message),
  };
}

/** The error of a state that cannot be what was saved. */
export function corruptState(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(`the stored state of ${describeSlot(slot)} is damaged: ${problem}`);
}

function parse(slot: Slot, text: RedisReply, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
  }
  if (!isRecord(value)) throw corruptState(slot, `${what} is not a JSON object`);
  return value;
}
