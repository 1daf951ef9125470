import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "../../src/plugin-kit/ask-model.js";

/** Gives the items and then ends, fails, or never answers again; notes what is asked of it. */
function source(items: readonly number[], end: "done" | "never" | Error = "done") {
  const asked = { nexts: 0, returns: 0 };
  const left = [...items];
  return {
    asked,
    items: {
      [Symbol.asyncIterator]: (): AsyncIterator<number> => ({
        async next() {
          asked.nexts++;
          const value = left.shift();
          if (value !== undefined) return { done: false, value };
          if (end === "never") return new Promise<never>(() => undefined);
          if (end instanceof Error) throw end;
          return { done: true, value: undefined };
        },
        return() {
          asked.returns++;
          // As one that does not heed its signal would: it never answers this either.
          return new Promise<never>(() => undefined);
        },
      }),
    },
  };
}

async function collect(items: AsyncIterable<number>, into: number[] = []): Promise<number[]> {
  for await (const item of items) into.push(item);
  return into;
}

test("everything comes through, and nothing is left behind at the signal", async () => {
  const { signal } = new AbortController();
  const { items, asked } = source([1, 2, 3]);
  expect(await collect(untilAborted(items, signal))).toEqual([1, 2, 3]);
  expect(asked.returns).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a source that ignores the signal is left as soon as it aborts, with the signal's reason", async () => {
  const controller = new AbortController();
  const { items, asked } = source([1], "never");
  const seen: number[] = [];
  const reading = collect(untilAborted(items, controller.signal), seen);
  while (asked.nexts < 2) await new Promise(setImmediate);
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
  expect(seen).toEqual([1]);
  expect(asked.returns).toBe(1);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("a source that was left may fail later without anybody noticing", async () => {
  const controller = new AbortController();
  let fail: (error: Error) => void = () => undefined;
  const failing = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const items = { [Symbol.asyncIterator]: () => ({ next: () => failing }) };
  const reading = collect(untilAborted(items, controller.signal));
  controller.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  // An unhandled rejection would fail the run.
  fail(new Error("too late"));
  await new Promise(setImmediate);
});

test("nothing is asked of a source when the signal was aborted before", async () => {
  const { items, asked } = source([1]);
  const signal = AbortSignal.abort(new Error("before"));
  await expect(collect(untilAborted(items, signal))).rejects.toThrow("before");
  expect(asked.nexts).toBe(0);
});

test("what the source throws is thrown", async () => {
  const { signal } = new AbortController();
  const failure = new Error("broken");
  await expect(collect(untilAborted(source([1], failure).items, signal))).rejects.toBe(failure);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a source is told when its reader leaves, who does not wait for its answer", async () => {
  const { signal } = new AbortController();
  const { items, asked } = source([1, 2], "never");
  for await (const item of untilAborted(items, signal)) {
    expect(item).toBe(1);
    break;
  }
  expect(asked).toEqual({ nexts: 1, returns: 1 });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
