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
  const time = lastMs.toString(16).padStart(12, "0");
  const random = randomHex(8);
  const variant = "89ab".charAt(Number.parseInt(random.charAt(0), 16) % 4);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
}

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Returns up to 64 random bytes as hexadecimal digits.
 *
 * A few bytes from the system cost as much as thousands, and a turn needs a dozen ids.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = pool.toString("hex", used, used + bytes);
  used += bytes;
  return taken;
}
