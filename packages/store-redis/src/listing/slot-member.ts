import { HoldfastError, type Slot } from "@holdfast/core";
import { checkSlot } from "@holdfast/core/store-kit";

/** A slot as an entry of an index. */
export function slotMember({ agentId, userId, sessionId }: Slot): string {
  return JSON.stringify([agentId, userId, sessionId]);
}

/** The inverse of {@link slotMember}; null for anything else. */
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
