import assert from "node:assert/strict";
import {
  InvalidIdError,
  InvalidInputError,
  type KeyValueStore,
  StateConflictError,
} from "@holdfast/core";
import type { KeyQuery } from "@holdfast/core/store-kit";
import { rejectionOf } from "../conformance/assert-rejects.js";
import type {
  CaseBody,
  ConformanceCase,
  ReopenableOptions,
} from "../conformance/conformance-case.js";

/** Options of {@link describeKeyValueStore}. */
export interface KeyValueStoreOptions extends ReopenableOptions<KeyValueStore> {
  /** Takes the backend away, as an outage would; every method must then fail, and within `timeoutMs`. */
  breakBackend?(store: KeyValueStore): void | Promise<void>;
}

/** Makes one case about a key-value store. */
export type KeyValueCase = (title: string, body: CaseBody<KeyValueStore>) => ConformanceCase;

/** The namespace most cases use. */
export const sampleNamespace: readonly string[] = ["test", "values"];

/** Every key a query lists, page by page; fails when one comes twice or a page is over the limit. */
export async function everyKey(
  store: KeyValueStore,
  namespace: readonly string[],
  query: KeyQuery = {},
): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(namespace, { ...query, cursor });
    assert.ok(page.keys.length <= (query.limit ?? 100), "a page within the limit");
    keys.push(...page.keys);
    cursor = page.cursor;
  } while (cursor !== undefined);
  assert.equal(new Set(keys).size, keys.length, "no key is listed twice");
  return keys;
}

/** Fails unless `work` is refused because of what it was given. */
export async function assertInvalid(work: () => Promise<unknown>, what: string): Promise<void> {
  const error = await rejectionOf(work, `${what} must be refused`);
  assert.ok(
    InvalidIdError.is(error) || InvalidInputError.is(error),
    `${what} must be refused with InvalidIdError or InvalidInputError, but failed with ${String(error)}`,
  );
}

/** Has 32 writers, spread over `stores`, add one to a number each; fails when one is lost. */
export async function assertNoIncrementLost(stores: readonly KeyValueStore[]): Promise<void> {
  const increment = async (store: KeyValueStore): Promise<void> => {
    for (;;) {
      const current = await store.get(sampleNamespace, "counter");
      const next = current === null ? 1 : (current.value as number) + 1;
      try {
        const expected = current?.version ?? null;
        await store.put(sampleNamespace, "counter", next, { expected });
        return;
      } catch (error) {
        if (!StateConflictError.is(error)) throw error;
      }
    }
  };
  const writers = Array.from({ length: 32 }, (_, at) => stores[at % stores.length]);
  await Promise.all(writers.map((store) => increment(store as KeyValueStore)));
  for (const store of stores)
    assert.equal((await store.get(sampleNamespace, "counter"))?.value, 32, "increments that count");
}
