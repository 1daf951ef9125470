import type { SessionInfo } from "../ports/agent-state-store.js";

/**
 * Returns the call records after a save, newest first: the new one, then the earlier ones of other calls, at most `keep`.
 *
 * Takes any form in which a store keeps its records.
 */
export function withCallRecord<T extends { readonly callId: string }>(
  stored: readonly T[],
  record: T,
  keep: number,
): T[] {
  const others = stored.filter(({ callId }) => callId !== record.callId);
  return [record, ...others].slice(0, Math.max(0, keep));
}

/**
 * Returns the facts that a listing shows: those of the last save, and `unfinished` while the inbox holds the input of a call.
 */
export function listedInfo(
  saved: SessionInfo | undefined,
  hasInput: boolean,
): SessionInfo | undefined {
  return hasInput ? { ...saved, unfinished: true } : saved;
}
