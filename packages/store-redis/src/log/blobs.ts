import { type Slot, StateCorruptError, StoreUnavailableError } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { isTextOrNull, listOf, textIn } from "../connection/reply-shape.js";
import { defineScript } from "../connection/script.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { partKey } from "../keys.js";

/** Options for storing blobs. */
export interface BlobOptions {
  readonly keyPrefix: string;
  readonly ttlMs: number | undefined;
  readonly minReplicas: number;
}

/** Chunks sent or read with one command: about a megabyte. */
const CHUNKS_PER_COMMAND = 4;

// Also refreshes the expiry: a blob found here must still exist when the record that names it is appended.
const knownBlobs = defineScript(
  "known-blobs",
  true,
  `${refreshLua}
   refresh(tonumber(ARGV[1]), 2)
   return redis.call('HMGET', KEYS[2], unpack(ARGV, 2))`,
  listOf(isTextOrNull),
);

// Refuses to continue behind a missing chunk: the slot was deleted meanwhile, or a failover lost it.
const putChunks = defineScript(
  "put-chunks",
  true,
  `${refreshLua}
   if ARGV[2] ~= '' and redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return 'gap' end
   redis.call('HSET', KEYS[2], unpack(ARGV, 3))
   refresh(tonumber(ARGV[1]), 2)
   return 'stored'`,
  textIn("stored", "gap"),
);

/**
 * Stores long texts that a slot does not have yet; call it before appending the records that name them.
 *
 * Each is stored in chunks, fields `<ref>:<n>`, and counts as stored once the field `<ref>` holds their number.
 */
export async function writeBlobs(
  connection: RedisConnection,
  options: BlobOptions,
  slot: Slot,
  blobs: ReadonlyMap<string, string>,
): Promise<void> {
  const { keyPrefix, ttlMs = 0, minReplicas } = options;
  const what = `storing long texts of ${describeSlot(slot)}`;
  const keys = [partKey(keyPrefix, slot, "lease"), partKey(keyPrefix, slot, "blobs")];
  const refs = [...blobs.keys()];
  const known = await connection.run(what, knownBlobs, keys, [ttlMs, ...refs], { minReplicas });
  for (const [index, [ref, text]] of [...blobs].entries()) {
    if (Array.isArray(known) && known[index] !== null) continue;
    const chunks = chunksOf(text);
    for (let at = 0; at < chunks.length; at += CHUNKS_PER_COMMAND) {
      const fields = chunks
        .slice(at, at + CHUNKS_PER_COMMAND)
        .flatMap((chunk, index) => [`${ref}:${at + index}`, chunk]);
      if (at + CHUNKS_PER_COMMAND >= chunks.length) fields.push(ref, String(chunks.length));
      const previous = at === 0 ? "" : `${ref}:${at - 1}`;
      const args = [ttlMs, previous, ...fields];
      if ((await connection.run(what, putChunks, keys, args, { minReplicas })) !== "stored")
        throw new StoreUnavailableError(
          `${what} was overtaken by a delete or a failover; no record was appended, try again`,
        );
    }
  }
}

const REF = /^sha256:[0-9a-f]{64}$/;

/** Part of a long text, and the chunk at which the next part begins; `next` is absent after the last. */
export interface BlobPart {
  readonly text: string;
  readonly next?: number | undefined;
}

/**
 * Reads about a megabyte of a long text, from chunk `at` on; null when the slot has no such text.
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
  // Also prevents a caller from naming a single chunk.
  if (!REF.test(ref)) return null;
  const what = `reading a long text of ${describeSlot(slot)}`;
  const fields = Array.from({ length: CHUNKS_PER_COMMAND }, (_, index) => `${ref}:${at + index}`);
  const key = partKey(keyPrefix, slot, "blobs");
  const reply = await connection.send(what, "HMGET", [key, ref, ...fields], {
    reply: listOf(isTextOrNull, fields.length + 1),
  });
  // The number of chunks is read with every part: a text deleted meanwhile is not a damaged one.
  const [stored, ...found] = Array.isArray(reply) ? reply : [];
  if (typeof stored !== "string") return null;
  const count = Number(stored);
  const chunks = found.slice(0, Math.max(count - at, 0));
  if (!chunks.every((chunk) => typeof chunk === "string") || chunks.length === 0)
    throw new StateCorruptError(
      `a long text of ${describeSlot(slot)} is damaged: a part of it is missing`,
    );
  const next = at + chunks.length;
  return { text: chunks.join(""), next: next < count ? next : undefined };
}

/** Reads a whole long text; null when the slot has none under this name. */
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

/** Largest chunk, in bytes of UTF-8. */
const CHUNK_BYTES = 262_144;

/** Splits a well-formed text into chunks of at most 256 KB of UTF-8, between characters. */
export function chunksOf(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  const chunks: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + CHUNK_BYTES, bytes.length);
    while (end < bytes.length && isInsideCharacter(bytes[end])) end--;
    chunks.push(bytes.toString("utf8", start, end));
    start = end;
  }
  return chunks;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
