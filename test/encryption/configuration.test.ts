import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import {
  type AgentStateStore,
  ConfigurationError,
  type ConversationLog,
  type DistributedStore,
  InMemoryAgentStateStore,
  InMemoryConversationLog,
  InProcessSessionGate,
  type KeyValueStore,
  ReActAgent,
} from "@holdfast/core";
import { type EncryptionOptions, withEncryption } from "@holdfast/encryption";
import { scriptedModel } from "@holdfast/testing";
import { expect, expectTypeOf, test } from "vitest";
import { freshKey, freshOptions } from "./keys.js";
import { loadState, saveTexts, slotOf } from "./stored.js";
import { memorySubject, partsOf } from "./subjects.js";

const secret = randomBytes(32).toString("base64");

function problemsOf(options: unknown): readonly string[] {
  try {
    withEncryption(new InMemoryAgentStateStore(), options as EncryptionOptions);
  } catch (error) {
    expect(error).toSatisfy(ConfigurationError.is);
    return (error as ConfigurationError).problems;
  }
  return [];
}

test.each([
  ["no keys at all", {}],
  ["an empty list", { keys: [] }],
  ["something else than a list", { keys: secret }],
  ["a key without an id", { keys: [{ key: secret }] }],
  ["an id with a dot", { keys: [{ id: "a.b", key: secret }] }],
  ["a long id", { keys: [{ id: "x".repeat(33), key: secret }] }],
  ["two keys with one id", { keys: [freshKey("a"), freshKey("a")] }],
  ["a short key", { keys: [{ id: "a", key: randomBytes(16) }] }],
  ["a password", { keys: [{ id: "a", key: `${secret.slice(0, 20)}!` }] }],
  ["half a base64 key", { keys: [{ id: "a", key: secret.slice(0, 40) }] }],
  ["a hex key", { keys: [{ id: "a", key: Buffer.from(secret, "base64").toString("hex") }] }],
  ["an option that does not exist", { keys: [{ id: "a", key: secret }], key: secret }],
  ["readPlaintext that is no boolean", { keys: [{ id: "a", key: secret }], readPlaintext: "no" }],
])("%s is refused, without showing a key", (_, options) => {
  const problems = problemsOf(options);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^withEncryption: /);
  expect(problems.join()).not.toContain(secret.slice(0, 16));
});

test("every problem is named at once", () => {
  expect(problemsOf({ keys: [{ id: "", key: "" }, null], more: 1 })).toHaveLength(5);
});

test.each([
  [null, /^withEncryption: pass a state store, or an object with any of stateStore, /],
  ["redis://x", /^withEncryption: pass a state store/],
  [{ stateStore: 5 }, /^withEncryption: stateStore is not an object, and so no part of a store$/],
  [{ stateStore: new InMemoryAgentStateStore(), log: null }, /^withEncryption: log is not an/],
])("%o is no store to encrypt", (parts, expected) => {
  const make = () => withEncryption(parts as never, freshOptions());
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(expected);
});

test("nothing to encrypt is refused", () => {
  expect(() => withEncryption({}, freshOptions())).toThrow(ConfigurationError);
});

test("a key as bytes, as base64 and as base64url is the same key", async () => {
  const bytes = Buffer.alloc(32, 0xfb);
  const { store, inner } = memorySubject(true, { keys: [{ id: "k", key: bytes }] });
  await saveTexts(store, slotOf(), ["text"]);
  // The caller's bytes are copied.
  bytes.fill(0);
  for (const encoding of ["base64", "base64url"] as const) {
    const key = Buffer.alloc(32, 0xfb).toString(encoding);
    const again = withEncryption(inner, { keys: [{ id: "k", key }] });
    expect((await loadState(again, slotOf())).messages).toHaveLength(1);
  }
});

test("the keys show in no printed form of a store", () => {
  const bytes = Buffer.from(secret, "base64");
  const store = withEncryption(new InMemoryAgentStateStore(), { keys: [{ id: "k", key: secret }] });
  const printed =
    inspect(store, { depth: 20, showHidden: true }) +
    JSON.stringify(store) +
    inspect(partsOf(store), { depth: 20, showHidden: true });
  for (const shown of [secret, bytes.toString("hex"), inspect(bytes).slice(8, 40)])
    expect(printed).not.toContain(shown);
});

test("parts keep their identity, so that gate and log stay fused", () => {
  for (const fused of [true, false]) {
    const { store, inner } = memorySubject(fused);
    const parts = partsOf(store);
    expect(partsOf(store)).toBe(parts);
    expect(parts.stateStore).toBe(store);
    expect([store.fuses?.gate, store.fuses?.log]).toEqual(
      fused ? [parts.gate, parts.log] : [undefined, undefined],
    );
    const bundle = withEncryption(partsOf(inner), freshOptions());
    expect(bundle.stateStore.fuses?.gate).toBe(fused ? bundle.gate : undefined);
    expect(bundle.stateStore.fuses?.log).toBe(fused ? bundle.log : undefined);
    expect(bundle.stateStore.companions?.()).toEqual(bundle);
    expect(bundle.stateStore).toMatchObject({ contract: 1, reach: inner.reach });
  }
});

test("closing closes the store behind", async () => {
  let closed = 0;
  class ClosingStore extends InMemoryAgentStateStore {
    override async close(): Promise<void> {
      closed++;
    }
  }
  await withEncryption(new ClosingStore(), freshOptions()).close();
  expect(closed).toBe(1);
});

test("the result has the shape of what was passed", () => {
  const store = new InMemoryAgentStateStore();
  const options = freshOptions();
  expectTypeOf(withEncryption(store, options)).toEqualTypeOf<AgentStateStore>();
  expectTypeOf(withEncryption(store.companions(), options)).toEqualTypeOf<DistributedStore>();
  const some = withEncryption({ log: new InMemoryConversationLog(), keyValue: undefined }, options);
  expectTypeOf(some.log).toEqualTypeOf<ConversationLog>();
  expectTypeOf<{ log: ConversationLog }>().toExtend<Pick<typeof some, "log">>();
  const maybe = (parts: { keyValue?: KeyValueStore }) => withEncryption(parts, options).keyValue;
  expectTypeOf(maybe).returns.toEqualTypeOf<KeyValueStore | undefined>();
  expect(Object.keys(some)).toEqual(["log"]);
});

test("sessions that expire need the store's own gate, encrypted or not", () => {
  const plain = new InMemoryAgentStateStore({ ttlMs: 60_000 });
  const model = scriptedModel(() => "ok");
  for (const stateStore of [plain, withEncryption(plain, freshOptions())]) {
    const gate = new InProcessSessionGate();
    expect(() => new ReActAgent({ name: "a", model, stateStore, gate })).toThrow(/gate: .*ttlMs/);
    expect(() => new ReActAgent({ name: "a", model, stateStore })).not.toThrow();
  }
});
