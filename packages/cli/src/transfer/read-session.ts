import type { DistributedStore, Slot } from "@holdfast/core";
import { checkSlot, loadWhole } from "@holdfast/core/store-kit";
import { recordsOf } from "./log-records.js";
import { SessionDigest } from "./session-digest.js";
import type { SessionLine } from "./session-line.js";

/**
 * Reads a session as lines, page by page; no lines when it does not exist.
 *
 * The state is read first: the log is written before a state or with it, so the records that follow include everything
 * that led to it.
 *
 * @throws StoreError
 */
export async function* readSession(
  { stateStore, log }: Pick<DistributedStore, "stateStore" | "log">,
  slot: Slot,
): AsyncGenerator<SessionLine, void, void> {
  const owner = checkSlot(slot);
  const state = await loadWhole(stateStore, owner);
  const records = recordsOf(log, owner);
  let next = await records.next();
  if (state === null && next.done) return;
  const digest = new SessionDigest();
  if (state !== null) digest.state(state);
  const { revision = null, head = null, messages = [], callRecords = [], info } = state ?? {};
  const counts = { messages: messages.length };
  const beside = { ...(callRecords.length > 0 && { callRecords }), ...(info && { info }) };
  yield { type: "session", v: 1, slot: owner, revision, head, ...beside, counts };
  for (const message of messages) yield { type: "message", message };
  for (; !next.done; next = await records.next()) {
    digest.record(next.value.record);
    yield { type: "record", record: await next.value.whole() };
  }
  const { records: count, blobs, bytes, sha256 } = digest.summary();
  yield { type: "end", counts: { ...counts, records: count, blobs, bytes }, sha256 };
}
