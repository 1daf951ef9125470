import { YieldingClock } from "@holdfast/core/plugin-kit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

// Only the time is faked: yielding is real.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("lets other work run between the steps of a long computation", async () => {
  const clock = new YieldingClock();
  let others = 0;
  const other = (): void => {
    others++;
    next = setImmediate(other);
  };
  let next = setImmediate(other);
  for (let step = 0; step < 20; step++) {
    vi.advanceTimersByTime(5);
    await clock.tick();
  }
  clearImmediate(next);
  expect(others).toBe(10);
  expect(clock.isUp).toBe(false);
});

test("there is nothing to await until a slice of time is over, and again after a yield", async () => {
  const clock = new YieldingClock();
  expect(clock.isDue).toBe(false);
  expect(clock.tick()).toBeUndefined();
  vi.advanceTimersByTime(8);
  expect(clock.isDue).toBe(true);
  await clock.tick();
  expect(clock.isDue).toBe(false);
});

test("says when the time is up", () => {
  const clock = new YieldingClock({ timeoutMs: 5 });
  vi.advanceTimersByTime(4);
  expect(clock.isUp).toBe(false);
  vi.advanceTimersByTime(1);
  expect(clock.isUp).toBe(true);
});

test("a stop is seen at the next yield, with its reason", async () => {
  const controller = new AbortController();
  const clock = new YieldingClock({ signal: controller.signal });
  vi.advanceTimersByTime(8);
  // Runs only because the clock yields.
  setImmediate(() => controller.abort(new Error("enough")));
  await expect(clock.tick()).rejects.toThrow("enough");
});
