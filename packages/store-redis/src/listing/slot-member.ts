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

/** Entry of an index of sessions that wait. */
export interface Wait {
  readonly slot: Slot;
  /** Op of the save from which the session waits, as JSON; null when an earlier release saved it. */
  readonly since: string | null;
}

/** Encodes an entry of an index of sessions that wait. */
export function waitMember({ slot, since }: Wait): string {
  const { agentId, userId, sessionId } = slot;
  return JSON.stringify([agentId, userId, sessionId, since]);
}

/** Decodes an entry of {@link waitMember}; null when it is another. */
export function readWaitMember(member: string): Wait | null {
  const slot = readSlotMember(member);
  if (slot === null) return null;
  const [, , , since, ...more]: unknown[] = JSON.parse(member);
  if (since === undefined || more.length > 0) return null;
  return { slot, since: since === null ? null : String(since) };
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
