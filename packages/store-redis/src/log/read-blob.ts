import { type Slot, StateCorruptError } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { partKey } from "../keys.js";

const REF = /^sha256:[0-9a-f]{64}$/;

/** Chunks asked for with one command: about a megabyte. */
const CHUNKS_PER_COMMAND = 4;

/** Part of a long text, and where the next one begins; `next` is absent behind the last. */
export interface BlobPart {
  readonly text: string;
  readonly next?: number | undefined;
}

/**
 * About a megabyte of a long text, from chunk `at` on; null when the slot has no such text.
 *
 * @throws StateCorruptError when a chunk is missing
 */
export async function readBlobPart(
  connection: RedisConnection,
  keyPrefix: string,
  slot: Slot,
  ref: string,
  at: number,
): Promise<BlobPart | null> {
  // Also keeps a caller from naming a single chunk.
  if (!REF.test(ref)) return null;
  const what = `reading a long text of ${describeSlot(slot)}`;
  const fields = Array.from({ length: CHUNKS_PER_COMMAND }, (_, index) => `${ref}:${at + index}`);
  const key = partKey(keyPrefix, slot, "blobs");
  const reply = await connection.send(what, "HMGET", [key, ref, ...fields]);
  // The number of chunks comes with every part: a text that was deleted meanwhile is not a damaged one.
  const [stored, ...found] = Array.isArray(reply) ? reply : [];
  if (typeof stored !== "string") return null;
  const count = Number(stored);
  const chunks = found.slice(0, Math.max(count - at, 0));
  if (!chunks.every((chunk) => typeof chunk === "string") || chunks.length === 0)
    throw new StateCorruptError(
      `a long text of ${describeSlot(slot)} cannot be read whole: a part of it is missing`,
    );
  const next = at + chunks.length;
  return { text: chunks.join(""), next: next < count ? next : undefined };
}

/** A long text as it was stored; null when the slot has none under this name. */
export async function readBlob(
  connection: RedisConnection,
  keyPrefix: string,
  slot: Slot,
  ref: string,
): Promise<string | null> {
  let text = "";
  for (let at: number | undefined = 0; at !== undefined; ) {
    const part: BlobPart | null = await readBlobPart(connection, keyPrefix, slot, ref, at);
    if (part === null) return null;
    text += part.text;
    at = part.next;
  }
  return text;
}
