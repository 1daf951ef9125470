import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
} from "../conformance/conformance-case.js";
import { keyCases } from "./key-cases.js";
import {
  assertNoIncrementLost,
  everyKey,
  type KeyValueCase,
  type KeyValueStoreOptions,
  sampleNamespace as namespace,
} from "./key-value-case.js";
import { valueCases } from "./value-cases.js";

/** Registers the tests every `KeyValueStore` must pass. */
export function describeKeyValueStore(name: string, options: KeyValueStoreOptions): void {
  registerCases(`${name} as a KeyValueStore`, keyValueStoreCases(options), options);
}

/** The cases of {@link describeKeyValueStore}. */
export function keyValueStoreCases(options: KeyValueStoreOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("it names its contract", async (store) => {
      assert.equal(store.contract, 1);
      assert.ok(store.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(store.reach));
    }),
    ...valueCases(check, options),
    ...keyCases(check),
    ...(options.reopen === undefined ? [] : reopenCases(check)),
  ];
}

/** Two instances over the same data, as two processes would have. */
function reopenCases(check: KeyValueCase): ConformanceCase[] {
  return [
    check(
      "a value is read, listed and deleted through a second instance",
      async (store, reopen) => {
        const second = await reopen();
        const version = await store.put(namespace, "key", { a: 1 });
        assert.deepStrictEqual(await second.get(namespace, "key"), { value: { a: 1 }, version });
        assert.deepStrictEqual(await everyKey(second, namespace), ["key"]);
        await second.put(namespace, "key", 2, { expected: version });
        const stale = () => store.put(namespace, "key", 3, { expected: version });
        await assertRejects(stale, "StateConflictError", "a put based on the older version");
        assert.equal(await store.delete(namespace, "key"), true);
        assert.equal(await second.get(namespace, "key"), null);
      },
    ),
    check("32 increments over two instances lose nothing", async (store, reopen) => {
      await assertNoIncrementLost([store, await reopen()]);
    }),
  ];
}
