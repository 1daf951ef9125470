import { expect, test } from "vitest";
import { LineKeeper } from "../../src/connection/line-keeper.js";

test("nobody gets a new line before those who wait for it", async () => {
  let resolve = (): void => undefined;
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  let isOpen = false;
  const keeper = new LineKeeper(
    () => ({
      opened,
      get isOpen() {
        return isOpen;
      },
      drop() {},
    }),
    60_000,
  );
  const order: string[] = [];
  for (const name of ["first", "second"]) void keeper.use(async () => order.push(name));
  isOpen = true;
  resolve();
  while (keeper.line === undefined) await Promise.resolve();
  expect(order).toEqual(["first", "second"]);
  keeper.close();
});

test("a line that cannot be opened is dropped, and the next attempt opens another", async () => {
  const dropped: number[] = [];
  let made = 0;
  const keeper = new LineKeeper(() => {
    const number = made++;
    return {
      opened: number === 0 ? Promise.reject(new Error("refused")) : Promise.resolve(),
      isOpen: number > 0,
      drop: () => dropped.push(number),
    };
  }, 60_000);
  await expect(keeper.use(async () => 1)).rejects.toThrow("refused");
  expect(dropped).toEqual([0]);
  expect(await keeper.use(async () => 1)).toBe(1);
  expect(keeper.line).toBeDefined();
  keeper.close();
  expect(dropped).toEqual([0, 1]);
  expect(keeper.isClosed).toBe(true);
});
