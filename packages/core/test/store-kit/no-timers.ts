import { expect, vi } from "vitest";

/**
 * Waits until no timer is set. Faked time stands still meanwhile: a timer that the test has left stays, and one of work that another
 * file had left behind, which ends on a busy machine only now, goes.
 */
export async function expectNoTimers(): Promise<void> {
  await expect.poll(() => vi.getTimerCount(), { timeout: 30_000 }).toBe(0);
}
