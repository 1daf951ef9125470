import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  InMemoryKeyValueStore,
  InvalidIdError,
  StateConflictError,
  StateTooLargeError,
} from "../../src/index.js";

const space = ["tests"];
let store: InMemoryKeyValueStore;

beforeEach(() => {
  store = new InMemoryKeyValueStore();
});

test("a value comes back as a copy, with the version its write returned", async () => {
  const value = { list: [1] };
  const version = await store.put(space, "k", value);
  value.list.push(2);
  const read = (await store.get(space, "k")) as { value: { list: number[] }; version: string };
  expect(read).toEqual({ value: { list: [1] }, version });
  read.value.list.push(3);
  expect(await store.get(space, "k")).toEqual({ value: { list: [1] }, version });
});

test("null is a value, not an absence", async () => {
  await store.put(space, "k", null);
  expect(await store.get(space, "k")).toMatchObject({ value: null });
  expect(await store.get(space, "other")).toBeNull();
});

test("many values come in the order asked for", async () => {
  await store.put(space, "a", 1);
  await store.put(space, "b", 2);
  const many = await store.getMany(space, ["b", "none", "a", "b"]);
  expect(many.map((each) => each?.value)).toEqual([2, undefined, 1, 2]);
});

test("namespaces that look alike never meet", async () => {
  const alike = [["a", "b"], ["a/b"], ["ab"], ["a", "b", "c"], ["a"], ["1:a"], ["a1:b"]];
  for (const [index, namespace] of alike.entries()) await store.put(namespace, "k", index);
  for (const [index, namespace] of alike.entries())
    expect(await store.get(namespace, "k")).toMatchObject({ value: index });
});

describe("compare-and-set", () => {
  test("writes only over the version expected, and null expects nothing there", async () => {
    const first = await store.put(space, "k", 1, { expected: null });
    await expect(store.put(space, "k", 2, { expected: null })).rejects.toSatisfy(
      StateConflictError.is,
    );
    const second = await store.put(space, "k", 2, { expected: first });
    await expect(store.put(space, "k", 3, { expected: first })).rejects.toSatisfy(
      StateConflictError.is,
    );
    expect(await store.get(space, "k")).toEqual({ value: 2, version: second });
    await store.put(space, "k", 4);
    expect(await store.get(space, "k")).toMatchObject({ value: 4 });
  });

  test("holds for deletes too", async () => {
    const version = await store.put(space, "k", 1);
    await expect(store.delete(space, "k", { expected: "x" })).rejects.toSatisfy(
      StateConflictError.is,
    );
    await expect(store.delete(space, "k", { expected: null })).rejects.toSatisfy(
      StateConflictError.is,
    );
    expect(await store.delete(space, "k", { expected: version })).toBe(true);
    await expect(store.delete(space, "k", { expected: version })).rejects.toSatisfy(
      StateConflictError.is,
    );
    expect(await store.delete(space, "k", { expected: null })).toBe(false);
    expect(await store.delete(space, "k")).toBe(false);
  });

  test("is not fooled by the same value written again after a delete", async () => {
    const before = await store.put(space, "k", "same");
    await store.delete(space, "k");
    await store.put(space, "k", "same");
    await expect(store.put(space, "k", 2, { expected: before })).rejects.toSatisfy(
      StateConflictError.is,
    );
  });

  test("loses no increment of many writers", async () => {
    const increment = async () => {
      for (;;) {
        const read = await store.get(space, "n");
        try {
          await store.put(space, "n", ((read?.value as number) ?? 0) + 1, {
            expected: read?.version ?? null,
          });
          return;
        } catch (error) {
          expect(StateConflictError.is(error)).toBe(true);
        }
      }
    };
    await Promise.all(Array.from({ length: 50 }, increment));
    expect(await store.get(space, "n")).toMatchObject({ value: 50 });
  });
});

test("a listing is every key with the prefix, in ascending order, over pages of any size", async () => {
  const key = fc.string({
    unit: fc.constantFrom("a", "b", "%", "_", "é"),
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 20 }),
      fc.string({ unit: fc.constantFrom("a", "b", "%"), maxLength: 2 }),
      fc.integer({ min: 1, max: 7 }),
      async (keys, prefix, limit) => {
        const fresh = new InMemoryKeyValueStore();
        for (const each of keys) await fresh.put(space, each, 1);
        const listed: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await fresh.list(space, { prefix, limit, cursor });
          expect(page.keys.length).toBeLessThanOrEqual(limit);
          listed.push(...page.keys);
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(listed).toEqual(keys.filter((each) => each.startsWith(prefix)).sort());
      },
    ),
  );
  expect(await store.list(["nobody"])).toEqual({ keys: [] });
});

test("keys and values outside the limits are refused", async () => {
  await expect(store.get(space, "")).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.getMany(space, ["k", ""])).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.delete(space, "")).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.put([], "k", 1)).rejects.toSatisfy(InvalidIdError.is);
  const huge = "x".repeat(1_048_576);
  await expect(store.put(space, "k", huge)).rejects.toSatisfy(StateTooLargeError.is);
  expect(await store.get(space, "k")).toBeNull();
});
