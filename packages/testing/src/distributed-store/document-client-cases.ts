import assert from "node:assert/strict";
import type { AgentStateStore } from "@holdfast/core";
import { type DocumentClient, slotKey } from "@holdfast/core/store-kit";
import { firstWrite } from "../agent-state-store/state-writes.js";
import {
  type ConformanceCase,
  caseFactory,
  type ReopenableOptions,
} from "../conformance/conformance-case.js";
import { sampleSlot } from "../conformance/sample-slots.js";

/** Client under test, and the names that it may give to documents. */
interface Documents {
  readonly client: DocumentClient;
  /** A key as `documentStore` makes them, different for each name. */
  key(name: string): string;
}

/** The contract of a client of `documentStore`, command by command: what is wrong here makes everything above it fail. */
export function documentClientCases(
  options: ReopenableOptions<AgentStateStore>,
  clientOf: (store: AgentStateStore) => DocumentClient,
): ConformanceCase[] {
  const onStore = caseFactory(options, (store) => store.close());
  const check = (title: string, body: (documents: Documents) => Promise<void>): ConformanceCase =>
    onStore(title, async (store) => body(await documentsOf(store, clientOf(store))));
  return [
    check("get answers null where there is nothing, else value and version", async (documents) => {
      const { client, key } = documents;
      assert.equal(await client.get(key("a")), null, "get of an absent key must answer null");
      await write(client, key("a"), "text of a");
      const found = await client.get(key("a"));
      assert.equal(found?.value, "text of a", "get must answer the value as it was written");
      assert.equal(typeof found?.version, "string", "the version that get answers is a string");
      assert.equal(await client.get(key("b")), null, "get of another key must answer null");
    }),
    check(
      "compareAndSet writes if the version is the stored one, and only then",
      async (documents) => {
        const { client, key } = documents;
        const set = (value: string, version: string | null) =>
          client.compareAndSet(key("a"), value, version);
        assert.equal(await set("no", "none"), false, "of an absent key with a version: false");
        assert.equal(await client.get(key("a")), null, "and nothing is written");
        assert.equal(await set("one", null), true, "of an absent key with null: true");
        const one = await version(client, key("a"));
        assert.equal(await set("no", null), false, "of a key that exists, with null: false");
        assert.equal(await set("two", one), true, "with the stored version: true");
        assert.equal(await set("no", one), false, "with an earlier version: false");
        assert.equal((await client.get(key("a")))?.value, "two", "what was refused is not written");
      },
    ),
    check("one of many writes at the same version is made", async ({ client, key }) => {
      for (const expected of [null, "stored"] as const) {
        const at = expected && (await version(client, key("a")));
        const names = Array.from({ length: 16 }, (_, index) => `${expected} ${index}`);
        const made = await Promise.all(
          names.map((value) => client.compareAndSet(key("a"), value, at)),
        );
        assert.equal(made.filter((isMade) => isMade).length, 1, "one of 16 writes answers true");
        const stored = (await client.get(key("a")))?.value;
        assert.equal(stored, names[made.indexOf(true)], "and it is that one which is stored");
      }
    }),
    check("every write has a version of its own, also of the same value", async (documents) => {
      const { client, key } = documents;
      const versions: string[] = [];
      for (let round = 0; round < 3; round++) {
        await write(client, key("a"), "same");
        versions.push(await version(client, key("a")));
        assert.equal(await client.compareAndSet(key("a"), "same", versions.at(-1) ?? ""), true);
        versions.push(await version(client, key("a")));
        await client.delete(key("a"));
      }
      assert.equal(new Set(versions).size, versions.length, "a version is never used again");
    }),
    check("delete answers true if there was something, then false", async ({ client, key }) => {
      assert.equal(await client.delete(key("a")), false, "delete of an absent key");
      await write(client, key("a"), "text");
      await write(client, key("b"), "text");
      assert.equal(await client.delete(key("a")), true, "delete of a key that exists");
      assert.equal(await client.get(key("a")), null, "it is gone");
      assert.equal(await client.delete(key("a")), false, "delete once more");
      assert.equal((await client.get(key("b")))?.value, "text", "another key is left alone");
    }),
    check("list names every key, over as many pages as it takes", async ({ client, key }) => {
      const names = Array.from({ length: 150 }, (_, index) => key(`list-${index}`));
      for (const name of names) await write(client, name, "text");
      const listed = new Set(await keysOf(client));
      assert.deepStrictEqual(
        names.filter((name) => !listed.has(name)),
        [],
        "no key is missing",
      );
      await client.delete(names[0] ?? "");
      assert.equal((await keysOf(client)).includes(names[0] ?? ""), false, "but a deleted one is");
    }),
    check("values come back as they were, long ones and every character", async (documents) => {
      const { client, key } = documents;
      const texts = ["é € 漢 😀 \u0000 \n \r\n \\ \" ' ; -- $1 %s \uffff", "x".repeat(3_000_000)];
      const values = texts.map((text) => JSON.stringify(text));
      for (const [index, value] of values.entries()) {
        await write(client, key(`value-${index}`), value);
        const found = await client.get(key(`value-${index}`));
        assert.ok(found?.value === value, `value ${index} must come back unchanged`);
      }
    }),
  ];
}

/** Finds out which keys are the store's, by one that it has written. */
async function documentsOf(store: AgentStateStore, client: DocumentClient): Promise<Documents> {
  await store.save(sampleSlot, firstWrite(sampleSlot, []));
  const own = (await keysOf(client)).find((name) => name.endsWith(slotKey(sampleSlot)));
  assert.ok(own !== undefined, "list must name the key of a session that was saved");
  const prefix = own.slice(0, -slotKey(sampleSlot).length);
  const key = (name: string) => `${prefix}${slotKey({ ...sampleSlot, sessionId: name })}-case`;
  return { client, key };
}

async function keysOf(client: DocumentClient): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.list(cursor);
    assert.ok(Array.isArray(page?.keys), "list must answer { keys, cursor }, keys being a list");
    assert.notEqual(page.cursor, null, "the last page of list has no cursor; null is one");
    keys.push(...page.keys);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

async function write(client: DocumentClient, key: string, value: string): Promise<void> {
  const isWritten = await client.compareAndSet(key, value, null);
  assert.equal(isWritten, true, "compareAndSet of an absent key with null must answer true");
}

async function version(client: DocumentClient, key: string): Promise<string> {
  const found = await client.get(key);
  assert.ok(found !== null && found !== undefined, "get must find what was written");
  return found.version;
}
