import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** @default 120_000 */
  readonly timeoutMs?: number | undefined;
  /** Time between the first checks; it grows to ten times as long. @default 10 */
  readonly intervalMs?: number | undefined;
  /** Named in the error. @default "the condition" */
  readonly what?: string | undefined;
}

/**
 * Waits until `check` returns something truthy and returns that; a check that throws counts as "not yet".
 *
 * @throws AssertionError at the deadline, with the check's last error as its cause
 * @example await eventually(async () => (await gate.calls(slot)).length === 3);
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<T> {
  const { timeoutMs = 120_000, intervalMs = 10, what = "the condition" } = options;
  const deadline = performance.now() + timeoutMs;
  let waitMs = intervalMs;
  let last: unknown;
  do {
    try {
      const result = await check();
      if (result) return result;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(waitMs);
    // Backoff: what takes long is not to be slowed down by those who wait for it.
    waitMs = Math.min(waitMs * 1.2, intervalMs * 10);
  } while (performance.now() < deadline);
  const error = new assert.AssertionError({
    message: `${what} did not hold within ${timeoutMs} ms`,
  });
  error.cause = last;
  throw error;
}
