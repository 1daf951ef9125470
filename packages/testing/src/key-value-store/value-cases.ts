import assert from "node:assert/strict";
import type { JsonValue } from "@holdfast/core";
import { assertOutage, assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { awkwardMessages } from "../conformance/sample-messages.js";
import { tamper } from "../conformance/tamper.js";
import {
  assertNoIncrementLost,
  everyKey,
  type KeyValueCase,
  type KeyValueStoreOptions,
  sampleNamespace as namespace,
} from "./key-value-case.js";

const version = "0".repeat(32);

/** Values and their versions. */
export function valueCases(
  check: KeyValueCase,
  options: Pick<KeyValueStoreOptions, "breakBackend">,
): ConformanceCase[] {
  const cases = [
    check("a key never put reads as null", async (store) => {
      assert.equal(await store.get(namespace, "key"), null);
      assert.deepStrictEqual(await store.getMany(namespace, ["key"]), [null]);
      assert.equal(await store.delete(namespace, "key"), false);
    }),
    check("any JSON value comes back as it was, null included", async (store) => {
      const values: JsonValue[] = [
        null,
        false,
        0,
        "",
        "null",
        [],
        {},
        1e21,
        0.1 + 0.2,
        [[["deep"]]],
        JSON.parse(JSON.stringify(awkwardMessages())),
        JSON.parse('{"__proto__":{"a":1},"constructor":"x","":{"":""}}'),
      ];
      for (const value of values) {
        const put = await store.put(namespace, "key", value);
        assert.deepStrictEqual(await store.get(namespace, "key"), { value, version: put });
      }
    }),
    check("getMany answers in the order of the keys", async (store) => {
      for (const key of ["a", "b", "c"]) await store.put(namespace, key, `value ${key}`);
      const many = await store.getMany(namespace, ["c", "absent", "a", "c", "b"]);
      assert.deepStrictEqual(
        many.map((entry) => entry?.value ?? null),
        ["value c", null, "value a", "value c", "value b"],
      );
      assert.deepStrictEqual(many[2], await store.get(namespace, "a"));
      assert.deepStrictEqual(await store.getMany(namespace, []), []);
    }),
    check("values are copied both ways", async (store) => {
      const value = { list: [{ text: "x" }] };
      await store.put(namespace, "key", value);
      tamper(value);
      tamper(await store.get(namespace, "key"));
      tamper(await store.getMany(namespace, ["key"]));
      const stored = await store.get(namespace, "key");
      assert.deepStrictEqual(stored?.value, { list: [{ text: "x" }] });
    }),
    check("a put succeeds only on the version it expects", async (store) => {
      const first = await store.put(namespace, "key", 1, { expected: null });
      const second = await store.put(namespace, "key", 2, { expected: first });
      for (const expected of [null, first, version, ""]) {
        const put = () => store.put(namespace, "key", 3, { expected });
        await assertRejects(put, "StateConflictError", "a put on another version");
      }
      assert.deepStrictEqual(await store.get(namespace, "key"), { value: 2, version: second });
      const absent = () => store.put(namespace, "absent", 1, { expected: second });
      await assertRejects(absent, "StateConflictError", "a put on a version that is not there");
      assert.equal(await store.get(namespace, "absent"), null);
      await store.put(namespace, "key", 4, {});
      await store.put(namespace, "key", 5, { expected: undefined });
      assert.equal(
        (await store.get(namespace, "key"))?.value,
        5,
        "without a condition it just puts",
      );
    }),
    check("a delete succeeds only on the version it expects", async (store) => {
      const first = await store.put(namespace, "key", 1);
      const second = await store.put(namespace, "key", 2);
      for (const expected of [first, null]) {
        const remove = () => store.delete(namespace, "key", { expected });
        await assertRejects(remove, "StateConflictError", "a delete of another version");
      }
      assert.equal((await store.get(namespace, "key"))?.version, second);
      assert.equal(await store.delete(namespace, "key", { expected: second }), true);
      assert.equal(await store.get(namespace, "key"), null);
      await store.put(namespace, "key", 3);
      assert.equal(await store.delete(namespace, "key"), true);
      assert.deepStrictEqual(await everyKey(store, namespace), []);
    }),
    check("versions are never used again, not even after a delete", async (store) => {
      const versions: string[] = [];
      for (let round = 0; round < 4; round++) {
        versions.push(await store.put(namespace, "key", "same", { expected: null }));
        versions.push(await store.put(namespace, "key", "same"));
        await store.delete(namespace, "key");
      }
      assert.equal(new Set(versions).size, versions.length);
      await store.put(namespace, "key", "same");
      for (const expected of versions) {
        const put = () => store.put(namespace, "key", "late", { expected });
        await assertRejects(put, "StateConflictError", "a version from before the delete");
      }
    }),
    check("32 increments at once lose nothing", async (store) => {
      await assertNoIncrementLost([store]);
    }),
    check("of many first puts at once exactly one wins", async (store) => {
      const puts = Array.from({ length: 16 }, (_, value) =>
        store.put(namespace, "key", value, { expected: null }),
      );
      const results = await Promise.allSettled(puts);
      const won = results.flatMap(({ status }, at) => (status === "fulfilled" ? [at] : []));
      assert.equal(won.length, 1, "puts that were acknowledged");
      assert.equal((await store.get(namespace, "key"))?.value, won[0]);
    }),
    check(
      "a value of 900 KB is kept, one over 1 MB refused before anything is written",
      async (store) => {
        const large = "漢".repeat(300_000);
        await store.put(namespace, "key", large);
        assert.equal((await store.get(namespace, "key"))?.value, large);
        for (const tooLarge of ["x".repeat(1_100_000), "漢".repeat(400_000)]) {
          const put = () => store.put(namespace, "key", tooLarge);
          await assertRejects(put, "StateTooLargeError", "a value over 1 MB");
        }
        assert.equal((await store.get(namespace, "key"))?.value, large);
      },
    ),
  ];
  if (options.breakBackend !== undefined)
    cases.push(
      check("an outage fails every method and is never absence", async (store) => {
        await store.put(namespace, "key", 1);
        await options.breakBackend?.(store);
        await Promise.all([
          assertOutage(() => store.get(namespace, "key"), "get"),
          assertOutage(() => store.getMany(namespace, ["key"]), "getMany"),
          assertOutage(() => store.put(namespace, "key", 2), "put"),
          assertOutage(() => store.delete(namespace, "key"), "delete"),
          assertOutage(() => store.list(namespace), "list"),
        ]);
      }),
    );
  return cases;
}
