import { KeyedQueue } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test("work on one key runs in order, work on another key meanwhile", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gate = deferred();
  const first = queue.run("a", async () => {
    await gate.promise;
    log.push("a1");
  });
  const second = queue.run("a", async () => void log.push("a2"));
  await queue.run("b", async () => void log.push("b"));
  expect(log).toEqual(["b"]);
  gate.resolve();
  await Promise.all([first, second]);
  expect(log).toEqual(["b", "a1", "a2"]);
});

test("a failure reaches its caller and nobody else", async () => {
  const queue = new KeyedQueue();
  const failed = queue.run("a", () => Promise.reject(new Error("broken")));
  const next = queue.run("a", async () => "fine");
  await expect(failed).rejects.toThrow("broken");
  expect(await next).toBe("fine");
  await queue.idle();
});

test("work that throws at once rejects, and the queue goes on", async () => {
  const queue = new KeyedQueue();
  const failing = (): Promise<never> => {
    throw new Error("broken");
  };
  await expect(queue.run("a", failing)).rejects.toThrow("broken");
  expect(await queue.run("a", async () => "fine")).toBe("fine");
});

test("idle waits for everything that was queued, failures included", async () => {
  const queue = new KeyedQueue();
  const gate = deferred();
  const log: string[] = [];
  void queue.run("a", () => gate.promise);
  void queue.run("a", async () => void log.push("a"));
  queue.run("b", () => Promise.reject(new Error("broken"))).catch(() => undefined);
  const idle = queue.idle().then(() => log.push("idle"));
  gate.resolve();
  await idle;
  expect(log).toEqual(["a", "idle"]);
});

test("a key without work takes no memory", async () => {
  const queue = new KeyedQueue();
  const started = new Set<string>();
  const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
  await Promise.all(keys.map((key) => queue.run(key, async () => void started.add(key))));
  await queue.idle();
  // Work on a key that is not remembered starts before `run` returns.
  let isStarted = false;
  const last = queue.run("key 1", async () => {
    isStarted = true;
  });
  expect(isStarted).toBe(true);
  await last;
  expect(started.size).toBe(100);
});
