import { createHash } from "node:crypto";
import { HoldfastError, type Slot } from "@holdfast/core";
import { checkSlot, slotKey } from "@holdfast/core/store-kit";

/** Shards of an agent's index, so that not all sessions of a busy agent are on one node of a cluster. */
export const SHARDS = 16;

/** Number of the shard that a slot is in. */
export function shardOf(slot: Slot): number {
  return (createHash("sha256").update(slotKey(slot)).digest()[0] ?? 0) % SHARDS;
}

/** Encodes a slot as an entry of an index. */
export function slotMember({ agentId, userId, sessionId }: Slot): string {
  return JSON.stringify([agentId, userId, sessionId]);
}

/** Decodes an entry of an index; null when it is not a slot. */
export function readSlotMember(member: string): Slot | null {
  try {
    const [agentId, userId, sessionId] = JSON.parse(member);
    return checkSlot({ agentId, userId, sessionId });
  } catch (error) {
    if (HoldfastError.is(error) || error instanceof SyntaxError || error instanceof TypeError)
      return null;
    throw error;
  }
}
