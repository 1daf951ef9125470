import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallDeadline } from "../src/call-deadline.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a call ends after a time of silence, and in total however much it reports", () => {
  const silent = new CallDeadline(100, 1_000);
  vi.advanceTimersByTime(100);
  expect(silent.why).toBe("silence");
  const busy = new CallDeadline(100, 250);
  for (let step = 0; step < 3; step++) {
    vi.advanceTimersByTime(90);
    busy.progress();
  }
  expect(busy.why).toBe("too_long");
});

test("time that a person takes counts as neither", () => {
  const deadline = new CallDeadline(100, 150);
  vi.advanceTimersByTime(90);
  deadline.pause();
  vi.advanceTimersByTime(1_000_000);
  deadline.progress();
  expect(deadline.why).toBeNull();
  deadline.resume();
  vi.advanceTimersByTime(59);
  expect(deadline.why).toBeNull();
  vi.advanceTimersByTime(1);
  expect(deadline.why).toBe("too_long");
});

test("one signal stops the call, and one that was replaced does not", () => {
  const [before, after] = [new AbortController(), new AbortController()];
  const deadline = new CallDeadline(100, 100, before.signal);
  deadline.stopBy(after.signal);
  before.abort();
  expect(deadline.why).toBeNull();
  after.abort();
  expect(deadline.why).toBe("stopped");
  expect(deadline.signal.aborted).toBe(true);
});
