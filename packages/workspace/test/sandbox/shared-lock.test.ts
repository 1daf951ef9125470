import fc from "fast-check";
import { expect, test } from "vitest";
import { SharedLock } from "../../src/sandbox/shared-lock.js";

test("whoever asked to be alone is, others share, and all get their turn in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.scheduler(), async (asks, s) => {
      const lock = new SharedLock();
      const started: number[] = [];
      let sharing = 0;
      let alone = 0;
      const work = (isAlone: boolean, index: number) => async (): Promise<void> => {
        started.push(index);
        isAlone ? alone++ : sharing++;
        expect(alone === 0 || (alone === 1 && sharing === 0)).toBe(true);
        await s.schedule(Promise.resolve());
        isAlone ? alone-- : sharing--;
      };
      const all = asks.map((isAlone, index) =>
        isAlone ? lock.alone(work(isAlone, index)) : lock.share(work(isAlone, index)),
      );
      await s.waitFor(Promise.all(all));
      expect(started).toEqual(asks.map((_, index) => index));
      expect(lock.isIdle).toBe(true);
    }),
  );
});

test("those who share run at the same time", async () => {
  const lock = new SharedLock();
  let release = (): void => {};
  const first = lock.share(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await lock.share(async () => {});
  release();
  await first;
});

test("a failure passes the turn on", async () => {
  const lock = new SharedLock();
  const failing = lock.alone(async () => {
    throw new Error("failed");
  });
  await expect(failing).rejects.toThrow("failed");
  expect(await lock.alone(async () => "next")).toBe("next");
});
