import { randomFillSync } from "node:crypto";

let lastMs = 0;
let counter = 0;

/**
 * Returns a UUIDv7: sorts by creation time, and within one process strictly by creation order (a 12-bit counter follows
 * the milliseconds).
 *
 * Uses the real clock: ids must not repeat because a test stopped time.
 */
export function uuidv7(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  const random = randomFromPool(8);
  random[0] = ((random[0] as number) & 0x3f) | 0x80;
  const time = lastMs.toString(16).padStart(12, "0");
  const tail = random.toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Returns up to 64 random bytes. Read them immediately: the next call may refill the pool.
 *
 * A few bytes from the system cost as much as thousands, and a turn needs a dozen ids.
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
