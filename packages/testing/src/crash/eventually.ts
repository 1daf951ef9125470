import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** @default 30_000 */
  readonly timeoutMs?: number | undefined;
  /** @default 10 */
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
  const { timeoutMs = 30_000, intervalMs = 10, what = "the condition" } = options;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const result = await check();
      if (result) return result;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(intervalMs);
  } while (performance.now() < deadline);
  const error = new assert.AssertionError({
    message: `${what} did not hold within ${timeoutMs} ms`,
  });
  error.cause = last;
  throw error;
}
