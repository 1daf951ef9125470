import type { Slot } from "@holdfast/core";
import type { Value } from "../connection/session.js";
import { agentHash, ownerHash, slotHash, type Tables } from "../keys.js";

/** Columns that identify a slot; every statement that may create a row sets all of them. */
export const SLOT_COLUMNS = "k, agent_id, user_id, session_id, agent, owner";

/** Values of {@link SLOT_COLUMNS}. */
export function slotValues(slot: Slot): readonly Value[] {
  const { agentId, userId, sessionId } = slot;
  return [
    slotHash(slot),
    Buffer.from(agentId, "utf8"),
    userId === null ? null : Buffer.from(userId, "utf8"),
    Buffer.from(sessionId, "utf8"),
    agentHash(agentId),
    ownerHash(agentId, userId),
  ];
}

/** Assignments that remove the state of a slot, with its inbox. */
export const NO_STATE =
  "rev = NULL, state_head = NULL, n = 0, ops = '', changes = NULL, last_change = NULL, updated_at = NULL, inbox = NULL, calls = NULL, info = NULL, run_open = 0, unfinished = 0, awaits_answer = 0";

/** Value of `lease_until` of a lease that was given back. */
export const LEASE_END = "'1000-01-01 00:00:00'";

/** Column `lease_until` as the version of a lease. */
export const LEASE_VERSION = "CAST(lease_until AS CHAR)";

/**
 * Assignments that give a lease back. Its token stays, so that the row keeps its length and the server logs only what changes; a
 * lease that was given back is told by its time.
 */
export const LEASE_ENDED: string = `lease_until = ${LEASE_END}, lease_signals = NULL`;

/** Statement that deletes the row of a slot without state, log, inbox, lease and waiting calls. */
export function deleteEmptyRow({ slots }: Tables): string {
  return `DELETE FROM ${slots} WHERE k = ? AND rev IS NULL AND log_seq = 0 AND (lease_holder IS NULL OR lease_until = ${LEASE_END}) AND waiting = 0 AND inbox IS NULL`;
}
