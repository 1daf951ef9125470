import fc from "fast-check";
import { expect, test } from "vitest";
import { ReadWriteLock } from "../src/files/read-write-lock.js";

test("an exclusive holder is alone, others share, and requests are granted in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.scheduler(), async (asks, s) => {
      const lock = new ReadWriteLock();
      const started: number[] = [];
      let sharing = 0;
      let exclusive = 0;
      const work = (isExclusive: boolean, index: number) => async (): Promise<void> => {
        started.push(index);
        isExclusive ? exclusive++ : sharing++;
        expect(exclusive === 0 || (exclusive === 1 && sharing === 0)).toBe(true);
        await s.schedule(Promise.resolve());
        isExclusive ? exclusive-- : sharing--;
      };
      const all = asks.map((isExclusive, index) =>
        isExclusive
          ? lock.exclusive(work(isExclusive, index))
          : lock.shared(work(isExclusive, index)),
      );
      await s.waitFor(Promise.all(all));
      expect(started).toEqual(asks.map((_, index) => index));
      expect(lock.isIdle).toBe(true);
    }),
  );
});

test("sharers run at the same time", async () => {
  const lock = new ReadWriteLock();
  let release = (): void => {};
  const first = lock.shared(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await lock.shared(async () => {});
  release();
  await first;
});

test("a failure releases the lock", async () => {
  const lock = new ReadWriteLock();
  const failing = lock.exclusive(async () => {
    throw new Error("failed");
  });
  await expect(failing).rejects.toThrow("failed");
  expect(await lock.exclusive(async () => "next")).toBe("next");
});
