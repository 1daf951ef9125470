import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Up to 64 random bytes, to be read at once: the next call may fill the pool anew.
 *
 * Taken from a pool, because asking the system for a few bytes costs as much as asking it for thousands, and a turn needs
 * a dozen ids.
 */
export function randomFromPool(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = pool.subarray(used, used + bytes);
  used += bytes;
  return taken;
}
