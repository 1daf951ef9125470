import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  InvalidInputError,
  LeaseLostError,
  StateConflictError,
  StateCorruptError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "../../src/index.js";
import {
  type SaveRetryOptions,
  type StateWrite,
  saveWithRetry,
} from "../../src/store-kit/index.js";
import { expectNoTimers } from "./no-timers.js";
import { appendWrite, newSlot } from "./state-writes.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

type Answer = Error | "saved" | "hangs";

/** Saves into a store that answers as scripted, the last answer for ever, and runs the clock until it is over. */
async function save(answers: readonly Answer[], options?: SaveRetryOptions) {
  const writes: StateWrite[] = [];
  const times: number[] = [];
  const store = {
    save: async (_: unknown, write: StateWrite) => {
      const answer = answers[Math.min(writes.length, answers.length - 1)];
      writes.push(write);
      times.push(performance.now() - start);
      if (answer === "hangs") return new Promise<never>(() => undefined);
      if (answer !== "saved") throw answer;
      return "1.revision";
    },
  };
  const write = appendWrite(null, 0, []);
  const start = performance.now();
  let outcome: unknown;
  let elapsed = Number.NaN;
  const running = saveWithRetry(store, newSlot(), write, options)
    .catch((error: unknown) => error)
    .then((settled) => {
      outcome = settled;
      elapsed = performance.now() - start;
    });
  await vi.advanceTimersByTimeAsync(120_000);
  await running;
  await expectNoTimers();
  for (const each of writes) expect(each).toBe(write);
  return { outcome, attempts: writes.length, times, elapsed };
}

const unavailable = new StoreUnavailableError("down");
const unknown = new UnknownOutcomeError("no answer");

test("a save that works is made once", async () => {
  expect(await save(["saved"])).toMatchObject({ outcome: "1.revision", attempts: 1, elapsed: 0 });
});

test("the very same write is repeated until the store answers", async () => {
  const { outcome, attempts } = await save([unavailable, unknown, unavailable, "saved"]);
  expect(outcome).toBe("1.revision");
  expect(attempts).toBe(4);
});

test("waits grow from at most 50 ms to at most 2 s and are never under half of that", async () => {
  const { times } = await save([unavailable]);
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(waits.length).toBeGreaterThan(12);
  for (const [attempt, wait] of waits.entries()) {
    const step = Math.min(50 * 2 ** attempt, 2_000);
    expect(wait).toBeGreaterThanOrEqual(Math.floor(step / 2));
    expect(wait).toBeLessThanOrEqual(Math.ceil(step));
  }
});

describe("when the time is up", () => {
  test("a store that was never reached gives its last error, within the 30 s", async () => {
    const { outcome, elapsed } = await save([unavailable]);
    expect(outcome).toBe(unavailable);
    expect(elapsed).toBeGreaterThan(27_000);
    expect(elapsed).toBeLessThanOrEqual(30_000);
  });

  test("an answer lost once makes the outcome unknown, whatever came later", async () => {
    const { outcome } = await save([unknown, unavailable], { deadlineMs: 1_000 });
    expect(UnknownOutcomeError.is(outcome)).toBe(true);
    expect((outcome as Error).cause).toBe(unavailable);
  });

  test("an answer lost at last is that error itself", async () => {
    const { outcome } = await save([unavailable, unknown], { deadlineMs: 1_000 });
    expect(outcome).toBe(unknown);
  });

  test("a store that never answers is waited for no longer", async () => {
    const { outcome, elapsed, attempts } = await save(["hangs"], { deadlineMs: 700 });
    expect(UnknownOutcomeError.is(outcome)).toBe(true);
    expect({ elapsed, attempts }).toEqual({ elapsed: 700, attempts: 1 });
  });
});

describe("what repeating cannot help is thrown at once", () => {
  test.each([
    new StateConflictError("conflict"),
    new LeaseLostError("lost"),
    new StateCorruptError("corrupt"),
    new InvalidInputError("not a store error"),
    new TypeError("a bug"),
  ])("%s", async (error) => {
    expect(await save([error])).toMatchObject({ outcome: error, attempts: 1 });
  });

  test("a conflict after a lost answer stays a conflict: an applied write would have been recognised", async () => {
    const conflict = new StateConflictError("conflict");
    expect(await save([unknown, conflict])).toMatchObject({ outcome: conflict, attempts: 2 });
  });

  test.each([
    ["1.a", "conflict"],
    ["16.a", "conflict"],
    ["17.a", "unknown"],
    [null, "unknown"],
  ] as const)("a conflict with %s after a lost answer is: %s", async (storedRevision, expected) => {
    const conflict = new StateConflictError("conflict", { storedRevision });
    const { outcome, attempts } = await save([unknown, conflict]);
    expect(attempts).toBe(2);
    if (expected === "conflict") expect(outcome).toBe(conflict);
    else expect(UnknownOutcomeError.is(outcome)).toBe(true);
    expect((await save([conflict])).outcome, "no answer was lost").toBe(conflict);
  });

  test("but damage found after a lost answer does not say that the write was not applied", async () => {
    const { outcome, attempts } = await save([unknown, new StateCorruptError("corrupt")]);
    expect(UnknownOutcomeError.is(outcome)).toBe(true);
    expect(attempts).toBe(2);
  });
});

describe("the signal", () => {
  test("ends the waiting with the last error", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10_000);
    const { outcome, elapsed } = await save([unavailable], { signal: controller.signal });
    expect(outcome).toBe(unavailable);
    expect(elapsed).toBe(10_000);
  });

  test("does not keep the first attempt from being made", async () => {
    const signal = AbortSignal.abort();
    expect(await save(["saved"], { signal })).toMatchObject({ outcome: "1.revision" });
    expect(await save([unknown], { signal })).toMatchObject({ outcome: unknown, attempts: 1 });
  });
});
