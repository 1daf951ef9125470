import { expect, test } from "vitest";
import { uuidv7 } from "../values.js";

test("a hundred thousand ids are UUIDs of version 7, all different, in order of creation", () => {
  const before = Date.now();
  const ids = Array.from({ length: 100_000 }, () => uuidv7());
  const malformed = ids.filter(
    (id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
  );
  expect(malformed).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] as string))).toBe(-1);
  expect(timeOf(ids[0] as string)).toBeGreaterThanOrEqual(before);
});

test("ids keep their order when the clock goes back", () => {
  const now = Date.now;
  try {
    const first = uuidv7();
    Date.now = () => now() - 3_600_000;
    const second = uuidv7();
    Date.now = () => now() + 1_000;
    const third = uuidv7();
    expect([third, first, second].sort()).toEqual([first, second, third]);
  } finally {
    Date.now = now;
  }
});

test("the random part does not repeat between ids of one millisecond", () => {
  const tails = Array.from({ length: 1_000 }, () => uuidv7().slice(19));
  expect(new Set(tails).size).toBe(tails.length);
});

function timeOf(id: string): number {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}
