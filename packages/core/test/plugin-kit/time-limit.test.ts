import { getEventListeners, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { timeLimit } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

test("aborts when the time is over, also when garbage is collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collecting = setInterval(runInNewContext("gc") as () => void, 5);
  try {
    using limit = timeLimit(60, { stops: [new AbortController().signal] });
    await once(limit.signal, "abort");
    expect(limit.signal.reason).toMatchObject({ name: "TimeoutError" });
    using own = timeLimit(1, { reason: () => "too late" });
    await once(own.signal, "abort");
    expect(own.signal.reason).toBe("too late");
  } finally {
    clearInterval(collecting);
  }
});

test("aborts with the first of those that stop it, which may have done so before", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  using limit = timeLimit(600_000, { stops: [one.signal, other.signal] });
  other.abort("other");
  one.abort("one");
  expect(limit.signal.reason).toBe("other");
  using late = timeLimit(600_000, { stops: [one.signal] });
  expect(late.signal.reason).toBe("one");
});

test("leaves nothing behind, and a time that no timer can hold is no time at all", async () => {
  const stop = new AbortController();
  const limit = timeLimit(Number.POSITIVE_INFINITY, { stops: [stop.signal] });
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(limit.signal.aborted).toBe(false);
  limit[Symbol.dispose]();
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  stop.abort();
  expect(limit.signal.aborted).toBe(false);
});
