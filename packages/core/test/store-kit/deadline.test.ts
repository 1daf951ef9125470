import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StateTooLargeError, StoreUnavailableError, UnknownOutcomeError } from "../../src/index.js";
import { boundedRead, boundedWrite, sleep, withDeadline } from "../../src/store-kit/index.js";
import { expectNoTimers } from "./no-timers.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => undefined);
const late = () => new Error("late");

test("work that ends in time is passed on, and no timer is left", async () => {
  expect(await withDeadline(async () => 7, 1_000, late)).toBe(7);
  const error = new Error("own");
  await expect(withDeadline(() => Promise.reject(error), 1_000, late)).rejects.toBe(error);
  const thrower = () => {
    throw error;
  };
  await expect(withDeadline(thrower, 1_000, late)).rejects.toBe(error);
  await expectNoTimers();
});

test("work that takes too long ends in the given error, not a moment earlier", async () => {
  const settled = vi.fn();
  const waiting = withDeadline(never, 1_000, late).catch(settled);
  await vi.advanceTimersByTimeAsync(999);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await waiting;
  expect(settled).toHaveBeenCalledWith(new Error("late"));
  await expectNoTimers();
});

test("work that fails after its deadline disturbs nobody", async () => {
  let fail: (error: Error) => void = () => undefined;
  const waiting = withDeadline(
    () =>
      new Promise<never>((_, reject) => {
        fail = reject;
      }),
    10,
    late,
  );
  const checked = expect(waiting).rejects.toThrow("late");
  await vi.advanceTimersByTimeAsync(10);
  await checked;
  // An unhandled rejection would fail the run.
  fail(new Error("much later"));
});

test("a deadline beyond what timers hold does not fire at once", async () => {
  const settled = vi.fn();
  withDeadline(never, Number.POSITIVE_INFINITY, late).catch(settled);
  await vi.advanceTimersByTimeAsync(86_400_000);
  expect(settled).not.toHaveBeenCalled();
});

test("a read that fails or hangs is unavailable, a write that does may have been applied", async () => {
  const refused = () => Promise.reject(new Error("ECONNREFUSED"));
  await expect(boundedRead("reading", 100, refused)).rejects.toSatisfy(StoreUnavailableError.is);
  await expect(boundedWrite("writing", 100, refused)).rejects.toSatisfy(UnknownOutcomeError.is);
  const hanging = [boundedRead("reading", 100, never), boundedWrite("writing", 100, never)];
  const checked = Promise.all([
    expect(hanging[0]).rejects.toSatisfy(StoreUnavailableError.is),
    expect(hanging[1]).rejects.toSatisfy(UnknownOutcomeError.is),
  ]);
  await vi.advanceTimersByTimeAsync(100);
  await checked;
});

test("an error of this library is passed on as it is", async () => {
  const error = new StateTooLargeError("too large");
  await expect(boundedWrite("writing", 100, () => Promise.reject(error))).rejects.toBe(error);
});

test("sleep ends when its time is up or its signal aborts, and leaves nothing behind", async () => {
  const woken = vi.fn();
  const controller = new AbortController();
  const remove = vi.spyOn(controller.signal, "removeEventListener");
  sleep(1_000, controller.signal).then(() => woken("time"));
  sleep(5_000, controller.signal).then(() => woken("signal"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken.mock.calls).toEqual([["time"]]);
  controller.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(woken.mock.calls).toEqual([["time"], ["signal"]]);
  await sleep(1_000, controller.signal);
  expect(remove).toHaveBeenCalledTimes(2);
  await expectNoTimers();
});
