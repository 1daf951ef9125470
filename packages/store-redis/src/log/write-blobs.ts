import { type Slot, StoreUnavailableError } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { defineScript } from "../connection/script.js";
import { partKey } from "../keys.js";
import { chunksOf } from "./blob-chunks.js";

/** The options that decide how blobs are kept. */
export interface BlobOptions {
  readonly keyPrefix: string;
  readonly ttlMs: number | undefined;
  readonly minReplicas: number;
}

/** Chunks sent with one command: about a megabyte. */
const CHUNKS_PER_COMMAND = 4;

// Refreshing comes with looking: what is found here must still be there when the record that names it is.
const knownBlobs = defineScript(
  "known-blobs",
  true,
  `if ARGV[1] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
   return redis.call('HMGET', KEYS[1], unpack(ARGV, 2))`,
);

// Refuses to go on behind a chunk that is not there: the slot was deleted meanwhile, or a failover lost it.
const putChunks = defineScript(
  "put-chunks",
  true,
  `if ARGV[2] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return 0 end
   redis.call('HSET', KEYS[1], unpack(ARGV, 3))
   if ARGV[1] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
   return 1`,
);

/**
 * Stores long texts of a slot that it does not have yet; to be done before the records that name them are appended.
 *
 * Each is kept in chunks, fields `<ref>:<n>`, and counts as stored once the field `<ref>` holds their number.
 */
export async function writeBlobs(
  connection: RedisConnection,
  options: BlobOptions,
  slot: Slot,
  blobs: ReadonlyMap<string, string>,
): Promise<void> {
  if (blobs.size === 0) return;
  const { keyPrefix, ttlMs = "", minReplicas } = options;
  const what = `storing long texts of ${describeSlot(slot)}`;
  const keys = [partKey(keyPrefix, slot, "blobs")];
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
      if ((await connection.run(what, putChunks, keys, args, { minReplicas })) !== 1)
        throw new StoreUnavailableError(
          `${what} was overtaken by a delete or a failover; no record was appended, try again`,
        );
    }
  }
}
