import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { nastyIds } from "../conformance/nasty-ids.js";
import {
  assertInvalid,
  everyKey,
  type KeyValueCase,
  sampleNamespace as namespace,
} from "./key-value-case.js";

const badKeys: readonly unknown[] = [
  "",
  "x".repeat(1_025),
  "\ud800",
  1,
  null,
  undefined,
  {},
  ["a"],
];

/** Keys, namespaces and listing. */
export function keyCases(check: KeyValueCase): ConformanceCase[] {
  return [
    check("no awkward key or namespace reaches another's value", async (store) => {
      const places = [
        ...nastyIds.map((id) => [namespace, id] as const),
        ...nastyIds.map((id) => [[id], "key"] as const),
        ...nastyIds.map((id) => [["test", id], "key"] as const),
        [namespace, "x".repeat(1_024)] as const,
        [namespace, "漢".repeat(1_024)] as const,
        [namespace, `${"漢".repeat(1_023)}字`] as const,
      ];
      await inBatches(places, 16, ([path, key]) => store.put(path, key, [...path, key]));
      await inBatches(places, 16, async ([path, key]) =>
        assert.deepStrictEqual((await store.get(path, key))?.value, [...path, key]),
      );
    }),
    check('namespaces never meet: ["a","b"] is not ["a/b"], ["ab"] or ["a"]', async (store) => {
      const paths = [
        ["a", "b"],
        ["a/b"],
        ["ab"],
        ["a"],
        ["b"],
        ["a", "b", "c"],
        ["a", "b/c"],
        ["a/b", "c"],
        ["a:b"],
        ["a", ":b"],
        ["a:", "b"],
        ["1:a", "b"],
        ["a,b"],
        ['a","b'],
        ["a\u0000b"],
        ["b", "a"],
      ];
      // Keys that would make up for the difference where path and key are just joined.
      const keys = ["key", "b", "b/key", "/key", "c/key", ":key"];
      for (const path of paths)
        for (const key of keys) await store.put(path, key, JSON.stringify([path, key]));
      for (const path of paths) {
        assert.deepStrictEqual((await everyKey(store, path)).sort(), [...keys].sort());
        for (const key of keys)
          assert.equal((await store.get(path, key))?.value, JSON.stringify([path, key]));
      }
    }),
    check("keys are listed in ascending order, page by page, each once", async (store) => {
      const keys = Array.from(
        { length: 150 },
        (_, at) => `key-${String((at * 7) % 150).padStart(3, "0")}`,
      );
      await inBatches(keys, 16, (key) => store.put(namespace, key, key));
      const sorted = [...keys].sort();
      assert.deepStrictEqual(await everyKey(store, namespace, { limit: 40 }), sorted);
      assert.deepStrictEqual(await everyKey(store, namespace), sorted);
      assert.deepStrictEqual((await store.list(namespace)).keys, sorted.slice(0, 100));
      const all = await store.list(namespace, { limit: 500 });
      assert.equal(all.cursor, undefined, "no cursor on the last page");
    }),
    check("keys are in the order of their code points, on every page", async (store) => {
      const inOrder = ["A", "Z", "a", "a\u0000", "aa", "\u00e9", "\ud7ff", "\uff5e", "\u{1f600}"];
      await inBatches(inOrder.toReversed(), 4, (key) => store.put(namespace, key, 1));
      for (const limit of [1, 4, 100])
        assert.deepStrictEqual(await everyKey(store, namespace, { limit }), inOrder);
    }),
    check("a prefix with a NUL is as good as any other", async (store) => {
      const keys = ["a", "a\u0000", "a\u0000b", "a\u0001", "b"];
      for (const key of keys) await store.put(namespace, key, 1);
      for (const prefix of ["a", "a\u0000", "a\u0000b", "\u0000"])
        assert.deepStrictEqual(
          await everyKey(store, namespace, { prefix }),
          keys.filter((key) => key.startsWith(prefix)),
        );
    }),
    check("a prefix is literal, and case matters", async (store) => {
      const keys = ["a", "a%", "a%b", "a*", "a*b", "a.b", "a[b", "a\\b", "a_b", "ab", "A%c", "b"];
      for (const key of keys) await store.put(namespace, key, 1);
      for (const prefix of [...keys, "", "c", "a%bc"])
        for (const limit of [2, 100])
          assert.deepStrictEqual(
            await everyKey(store, namespace, { prefix, limit }),
            keys.filter((key) => key.startsWith(prefix)).sort(),
          );
    }),
    check(
      "a namespace without keys lists nothing, and deleted keys are not listed",
      async (store) => {
        assert.deepStrictEqual((await store.list(namespace)).keys, []);
        for (const key of ["a", "b", "c"]) await store.put(namespace, key, 1);
        await store.delete(namespace, "b");
        assert.deepStrictEqual((await store.list(namespace)).keys, ["a", "c"]);
      },
    ),
    check("what is not a key or a namespace is refused by every method", async (store) => {
      for (const key of badKeys as readonly string[]) {
        await assertInvalid(() => store.get(namespace, key), "get of a bad key");
        await assertInvalid(() => store.getMany(namespace, ["a", key]), "getMany of a bad key");
        await assertInvalid(() => store.put(namespace, key, 1), "put of a bad key");
        await assertInvalid(() => store.delete(namespace, key), "delete of a bad key");
      }
      for (const path of [[""], ["a", ""], ["\ud800"], ["a", 1], [null]] as unknown as string[][]) {
        await assertInvalid(() => store.get(path, "key"), "get in a bad namespace");
        await assertInvalid(() => store.getMany(path, ["key"]), "getMany in a bad namespace");
        await assertInvalid(() => store.put(path, "key", 1), "put in a bad namespace");
        await assertInvalid(() => store.delete(path, "key"), "delete in a bad namespace");
        await assertInvalid(() => store.list(path), "list of a bad namespace");
      }
    }),
  ];
}
