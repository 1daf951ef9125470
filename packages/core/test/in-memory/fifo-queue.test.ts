import fc from "fast-check";
import { expect, test } from "vitest";
import { FifoQueue, type QueuePlace } from "../../src/in-memory/fifo-queue.js";

interface Step {
  readonly kind: "push" | "shift" | "remove";
  /** Which place leaves. */
  readonly pick: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("push", "shift", "remove"),
  pick: fc.nat(),
});

test("a queue behaves like a list from which the first or any one is taken", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new FifoQueue<number>();
      const places: QueuePlace<number>[] = [];
      let model: number[] = [];
      for (const current of steps) {
        if (current.kind === "push") {
          model.push(places.length);
          places.push(queue.push(places.length));
        } else if (current.kind === "shift") {
          expect(queue.shift()).toBe(model.shift());
        } else {
          const place = places[current.pick % Math.max(places.length, 1)];
          if (place === undefined) continue;
          expect(queue.remove(place)).toBe(model.includes(place.value));
          model = model.filter((value) => value !== place.value);
        }
        expect([...queue]).toEqual(model);
        expect(queue.size).toBe(model.length);
      }
    }),
  );
});

test("leaving a long queue costs the same wherever one stands: 300,000 leave before the time-out", () => {
  const queue = new FifoQueue<number>();
  const places = Array.from({ length: 300_000 }, (_, value) => queue.push(value));
  for (const [index, place] of places.entries()) if (index % 2 === 0) queue.remove(place);
  for (const place of places) queue.remove(place);
  expect(queue.size).toBe(0);
  expect([...queue]).toEqual([]);
});
