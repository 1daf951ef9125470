import { BoundedMap } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

function keysIn(map: BoundedMap<string, number>, keys: string): string {
  return [...keys].filter((key) => map.get(key) !== undefined).join("");
}

test("evicts the entry that was set longest ago", () => {
  const map = new BoundedMap<string, number>({ maxEntries: 3 });
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value);
  map.get("b");
  map.set("a", 4);
  map.set("d", 5);
  expect(keysIn(map, "abcd")).toBe("acd");
  expect(map.get("a")).toBe(4);
  expect(map.size).toBe(3);
});

test("or the one that was used longest ago", () => {
  const map = new BoundedMap<string, number>({ maxEntries: 3, leastRecentlyUsed: true });
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value);
  map.get("a");
  map.set("d", 4);
  expect(map.get("b")).toBeUndefined();
  map.set("e", 5);
  expect(map.get("c")).toBeUndefined();
  expect(keysIn(map, "ade")).toBe("ade");
});

test("onEvict sees what was evicted, replaced or cleared, not what was deleted", () => {
  const evicted: number[] = [];
  const map = new BoundedMap<string, number>({
    maxEntries: 2,
    onEvict: (value) => evicted.push(value),
  });
  map.set("a", 1);
  map.set("b", 2);
  map.set("c", 3);
  expect(evicted).toEqual([1]);
  map.set("b", 4);
  expect(evicted).toEqual([1, 2]);
  expect(map.delete("c")).toBe(3);
  expect(map.delete("c")).toBeUndefined();
  map.clear();
  expect(evicted).toEqual([1, 2, 4]);
  expect(map.size).toBe(0);
});

test("onEvict may use the map", () => {
  const map: BoundedMap<string, number> = new BoundedMap<string, number>({
    maxEntries: 1,
    onEvict: (value) => void (value < 3 && map.set("again", 3)),
  });
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("again")).toBe(3);
  expect(map.size).toBe(1);
});
