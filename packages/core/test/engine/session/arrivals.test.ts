import fc from "fast-check";
import { expect, test } from "vitest";
import { Arrivals } from "../../../src/engine/session/enter-session.js";

test("calls enter in the order in which they came, however long each one prepares", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom("ok", "fails"), { maxLength: 12 }),
      async (scheduler, preparations) => {
        const order = new Arrivals();
        const entered: number[] = [];
        const arrivals = preparations.map((preparation, index) =>
          order
            .arrive(
              "slot",
              async () => {
                await scheduler.schedule(Promise.resolve(), `prepare ${index}`);
                if (preparation === "fails") throw new Error("not prepared");
              },
              async () => entered.push(index),
            )
            .catch(() => undefined),
        );
        await scheduler.waitFor(Promise.all(arrivals));
        expect(entered).toEqual(
          preparations.flatMap((preparation, index) => (preparation === "ok" ? [index] : [])),
        );
      },
    ),
  );
});

test("who waits in the queue does not keep the next one from joining it", async () => {
  const order = new Arrivals();
  let leave = () => {};
  const first = order.arrive(
    "slot",
    async () => undefined,
    () =>
      new Promise<string>((resolve) => {
        leave = () => resolve("first");
      }),
  );
  const second = order.arrive(
    "slot",
    async () => undefined,
    async () => "second",
  );
  expect(await second).toBe("second");
  leave();
  expect(await first).toBe("first");
});

test("one session's calls do not wait for another's", async () => {
  const order = new Arrivals();
  void order.arrive(
    "one",
    () => new Promise(() => {}),
    async () => undefined,
  );
  expect(
    await order.arrive(
      "other",
      async () => undefined,
      async () => "in",
    ),
  ).toBe("in");
});

test("a call that stops waiting leaves at once, and those behind it keep their places", async () => {
  const order = new Arrivals();
  const entered: string[] = [];
  let prepared = () => {};
  const slow = new Promise<void>((resolve) => {
    prepared = resolve;
  });
  const enter = (name: string) => async () => void entered.push(name);
  const first = order.arrive("slot", () => slow, enter("first"));
  const left = order.arrive(
    "slot",
    async () => undefined,
    enter("left"),
    () => Promise.reject(new Error("left")),
  );
  const third = order.arrive("slot", async () => undefined, enter("third"));
  await expect(left).rejects.toThrow("left");
  expect(entered).toEqual([]);
  prepared();
  await Promise.all([first, third]);
  expect(entered).toEqual(["first", "third"]);
});
