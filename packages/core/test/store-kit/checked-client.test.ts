import { expect, test } from "vitest";
import { ConfigurationError, userMessage } from "../../src/index.js";
import { type DocumentClient, documentStore } from "../../src/store-kit/index.js";
import { MapClient } from "./map-client.js";
import { appendWrite, newSlot } from "./state-writes.js";

/** A store over a client of which one command answers something that its contract does not allow. */
function storeWith(command: keyof DocumentClient, answer: unknown) {
  const client = new MapClient();
  return documentStore(Object.assign(client, { [command]: async () => answer }), {
    reach: "distributed",
  });
}

const slot = newSlot();
const secret = "what the user said";

test.each<[answer: string, unknown, says: RegExp]>([
  ["nothing for an absent key", undefined, /^documentStore: get of .* resolved to undefined$/],
  ["a pair", [secret, "v1"], /resolved to a list$/],
  ["the bare value", secret, /resolved to a string$/],
  ["a parsed value", { value: { secret }, version: "v1" }, /{ value: an object, version: a string/],
  ["a number as version", { value: "{}", version: 1 }, /{ value: a string, version: a number }$/],
  ["an object of its own", { [secret]: 1 }, /resolved to an object without these$/],
])("a get that answers %s is named, with the kind of its answer", async (_, answer, says) => {
  const store = storeWith("get", answer);
  const error = await store.load(slot).catch((reason: unknown) => reason);
  expect(error).toSatisfy(ConfigurationError.is);
  expect((error as Error).message).toMatch(says);
  expect((error as Error).message).not.toContain(secret);
  // Neither repeated nor reported as a store that cannot be reached.
  const acquired = store.companions?.().gate.acquire(slot, { callId: "c" });
  await expect(acquired).rejects.toThrow(says);
});

test.each([undefined, "OK", 1])("a compareAndSet that answers %s is named", async (answer) => {
  const save = storeWith("compareAndSet", answer).save(slot, appendWrite(null, 0, []));
  await expect(save).rejects.toThrow(/^documentStore: compareAndSet of .*true if it wrote/);
});

test("a delete that answers nothing is named", async () => {
  const deleted = storeWith("delete", undefined).delete(slot);
  await expect(deleted).rejects.toThrow(/^documentStore: delete of .* resolved to undefined$/);
});

test.each<[string, unknown, RegExp]>([
  ["bare keys", ["a"], /resolved to a list$/],
  ["rows", { keys: [{ key: "a" }] }, /resolved to { keys: a list }$/],
  ["null as the last cursor", { keys: [], cursor: null }, /{ keys: a list, cursor: null }$/],
])("a list that answers %s is named", async (_, answer, says) => {
  await expect(storeWith("list", answer).list()).rejects.toThrow(says);
});

test("a client without a command is refused when the store is made", () => {
  const { get, delete: remove } = new MapClient();
  const half = { get, delete: remove } as unknown as DocumentClient;
  expect(() => documentStore(half)).toThrow(
    "documentStore: the client has no compareAndSet, list; it needs get, compareAndSet, delete, list",
  );
  expect(() => documentStore(undefined as never)).toThrow(/has no get, compareAndSet, delete/);
});

test("commands may answer at once, or throw", async () => {
  const values = new Map<string, { value: string; version: string }>();
  const sync = {
    get: (key: string) => values.get(key) ?? null,
    compareAndSet: (key: string, value: string) =>
      values.set(key, { value, version: value }) && true,
    delete: (key: string) => values.delete(key),
    list: () => {
      throw new Error("connection refused");
    },
  } as unknown as DocumentClient;
  const store = documentStore(sync);
  await store.save(slot, appendWrite(null, 0, [userMessage("hi")]));
  expect(await store.load(slot)).toMatchObject({ messages: [{ role: "user" }] });
  await expect(store.list()).rejects.toThrow(/^listing sessions failed/);
});
