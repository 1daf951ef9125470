import { BoundedMap } from "@holdfast/core/plugin-kit";
import { Refusal } from "./refusal.js";

/** Requests that a user may make. */
export interface RateLimit {
  /** Requests per minute, in the long run. @default 120 */
  readonly perMinute?: number | undefined;
  /** Requests that may come at once after a pause. @default 30 */
  readonly burst?: number | undefined;
  /** Users that are counted at the same time; the one seen longest ago is forgotten. @default 10,000 */
  readonly maxUsers?: number | undefined;
}

/** {@link RateLimit} with its defaults. */
export type BucketSize = { readonly [K in keyof RateLimit]-?: number };

/** Requests that a user has left. */
interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Token buckets by user, in this process. */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets: BoundedMap<string, Bucket>;
  readonly #now: () => number;

  constructor(
    { perMinute, burst, maxUsers }: BucketSize,
    now: () => number = () => performance.now(),
  ) {
    this.#perMs = perMinute / 60_000;
    this.#burst = burst;
    this.#buckets = new BoundedMap({ maxEntries: maxUsers, leastRecentlyUsed: true });
    this.#now = now;
  }

  /** @throws Refusal with 429 and `Retry-After` when the user has nothing left */
  take(userId: string): void {
    const now = this.#now();
    const bucket = this.#buckets.get(userId) ?? { tokens: this.#burst, filledAt: now };
    const filled = bucket.tokens + (now - bucket.filledAt) * this.#perMs;
    bucket.tokens = Math.min(this.#burst, filled);
    bucket.filledAt = now;
    this.#buckets.set(userId, bucket);
    if (bucket.tokens < 1) {
      const seconds = Math.ceil((1 - bucket.tokens) / this.#perMs / 1_000);
      throw new Refusal(429, "RATE_LIMIT", "Too many requests. Please wait a moment.", {
        "retry-after": String(Math.max(1, seconds)),
      });
    }
    bucket.tokens--;
  }
}
