import {
  AgentState,
  type Message,
  type Slot,
  StateCorruptError,
  StateTooNewError,
  textOf,
  userMessage,
} from "@holdfast/core";
import { type LoadedState, type LogDraft, uuidv7, withBlobs } from "@holdfast/core/store-kit";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { RedisConversationLog } from "../../src/log/redis-conversation-log.js";
import { messageRecord } from "../log/sample-records.js";
import { RandomSession, sessionSteps } from "./random-sessions.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

const stores = new Stores();

test("whatever is saved, edited, logged and deleted, by two nodes and an earlier release, loads as it was saved", async () => {
  const property = fc.asyncProperty(sessionSteps, async (steps) => {
    const nodes = [stores.open(), stores.open()];
    const session = new RandomSession(nodes, { ...slot, sessionId: uuidv7() }, saveAsBefore);
    await session.begin();
    for (const step of steps) {
      await session.take(step);
      await session.check();
    }
    for (const node of nodes) await node.close();
  });
  await fc.assert(property, { numRuns: scaled(25, 400) });
});

test("the text of a turn is stored once", async () => {
  const store = stores.open();
  await store.save(slot, turn(null, ["the question", "the answer"]));
  await store.save(slot, turn(await loadState(store), ["a question", "an answer"]));
  expect((await loadState(store)).messages.map(textOf)).toEqual([
    ...["the question", "the answer", "a question", "an answer"],
  ]);
  const stored = await everyText();
  for (const text of ["the question", "the answer", "a question", "an answer"])
    expect(stored.split(text)).toHaveLength(2);
});

test("a log deleted alone leaves the state whole, at the same revision", async () => {
  const store = stores.open();
  await store.save(slot, turn(null, ["one", "two"]));
  const before = await loadState(store);
  // A log made by itself, as those of other programs.
  const log = new RedisConversationLog({ client: stores.client, keyPrefix: stores.keyPrefix });
  expect(await log.delete(slot)).toBe(true);
  await log.close();
  expect(await loadState(store)).toEqual(before);
  expect(await store.load(slot, before.revision)).toBe("unchanged");
  expect(AgentState.fromParts(await asRead()).context, "earlier releases read it again").toEqual(
    before.messages,
  );
  await store.save(slot, turn(before, ["three"]));
  expect((await loadState(store)).messages.map(textOf)).toEqual(["one", "two", "three"]);
  expect((await store.fuses.log.read(slot)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a message whose long text the log keeps apart stays in the state when the log goes", async () => {
  const store = stores.open();
  const text = "long".repeat(30_000);
  await store.save(slot, turn(null, [text, "short"]));
  const [record] = await store.fuses.log.read(slot, { after: 0 });
  if (record === undefined) throw new Error("no record");
  expect(textOf((await withBlobs(store.fuses.log, slot, record)).message as Message)).toBe(text);
  await store.fuses.log.delete(slot);
  expect((await loadState(store)).messages.map(textOf)).toEqual([text, "short"]);
});

test("a process of an earlier release refuses such a state as too new, and one without references not", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  expect(AgentState.fromParts(await asRead()).context).toHaveLength(1);
  await store.save(slot, turn(await loadState(store), ["two"]));
  const read = await asRead();
  expect(() => AgentState.fromParts(read)).toThrow(StateTooNewError);
  // Also after a save that neither logs nor has another head.
  await store.save(slot, nextWrite(await loadState(store), ["three"]));
  expect(await asRead()).toMatchObject({ head: read.head });
  expect((await loadState(store)).messages.map(textOf)).toEqual(["one", "two", "three"]);
});

test("a log that an earlier release deleted alone is damage, never another text", async () => {
  const store = stores.open();
  await store.save(slot, turn(null, ["a secret", "two"]));
  const { revision } = await loadState(store);
  const parts = ["log", "log-ids", "blobs"] as const;
  await stores.client.unlink(...parts.map((part) => stores.key(part)));
  const expectDamage = async (...all: (string | undefined)[]) => {
    for (const known of all) {
      const error = await store.load(slot, known).catch((reason: unknown) => reason);
      expect(StateCorruptError.is(error), String(error)).toBe(true);
      expect(String(error)).toContain("log");
      expect(String(error)).not.toContain("secret");
    }
  };
  await expectDamage(undefined, revision);
  await store.fuses.log.append(
    slot,
    ["others", "others", "others"].map((text) => record(text)),
  );
  await expectDamage(undefined);
  await expect(store.save(slot, firstWrite(["x"], { expected: revision }))).rejects.toSatisfy(
    StateCorruptError.is,
  );
  await store.fuses.log.delete(slot);
  expect(await store.delete(slot)).toBe(true);
  expect(await store.load(slot)).toBeNull();
});

test("a state that has lost its head is given it again by the next save", async () => {
  const store = stores.open();
  await store.save(slot, turn(null, ["one"]));
  const loaded = await loadState(store);
  await stores.client.hdel(stores.key("state"), "doc");
  await expect(store.load(slot)).rejects.toSatisfy(StateCorruptError.is);
  await store.save(slot, turn(loaded, ["two"]));
  expect((await loadState(store)).head).toEqual(loaded.head);
  await stores.client.hdel(stores.key("state"), "doc");
  expect(await store.fuses.log.delete(slot)).toBe(true);
  await expect(store.load(slot)).rejects.toSatisfy(StateCorruptError.is);
});

test("a log that a state refers to does not expire before it", async () => {
  const left = (part: "state" | "log") => stores.client.pttl(stores.key(part));
  const [lasting, expiring] = [stores.open(), stores.open({ ttlMs: 60_000 })];
  await lasting.save(slot, turn(null, ["one"]));
  await expiring.fuses.log.append(slot, [record("beside")]);
  expect([await left("state"), await left("log")]).toEqual([-1, -1]);
  const longer = stores.open({ ttlMs: 600_000 });
  await longer.load(slot);
  await expiring.fuses.log.append(slot, [record("beside")]);
  expect(await left("log")).toBeGreaterThan(500_000);
  await lasting.fuses.log.delete(slot);
  expect(await stores.client.pttl(stores.key("messages"))).toBeGreaterThan(500_000);
});

/** A save of messages that are logged with it. */
function turn(loaded: LoadedState | null, texts: readonly string[]) {
  const write = loaded === null ? firstWrite(texts) : nextWrite(loaded, texts);
  const run = uuidv7();
  const said = write.append.map((message, at) => messageRecord(message, `${run}.${at}`));
  return { ...write, log: loaded === null ? said : [...said, markRecord(run)] };
}

function record(text: string): LogDraft {
  return messageRecord(userMessage(text));
}

function markRecord(run: string): LogDraft {
  const at = new Date().toISOString();
  return { v: 1, id: `${run}.end`, callId: "call", at, kind: "mark", mark: { name: "call_end" } };
}

/** State as a release without references reads it. */
async function asRead(): Promise<{ head: never; messages: Message[] }> {
  const head = await stores.client.hget(stores.key("state"), "head");
  const texts = await stores.client.lrange(stores.key("messages"), 0, -1);
  return { head: JSON.parse(head ?? "") as never, messages: texts.map((text) => JSON.parse(text)) };
}

/** Everything that is stored below the prefix, as text. */
async function everyText(): Promise<string> {
  const texts = await Promise.all(
    (await stores.keys(stores.keyPrefix)).map(async (key) => {
      const type = await stores.client.type(key);
      if (type === "list") return stores.client.lrange(key, 0, -1);
      return type === "hash" ? Object.values(await stores.client.hgetall(key)) : [];
    }),
  );
  return texts.flat().join("\n");
}

/** Saves as a release without references and ledger does: it knows nothing of the fields that others keep. */
async function saveAsBefore(where: Slot, { revision, head, messages }: LoadedState): Promise<void> {
  const [state, list] = (["state", "messages"] as const).map((part) =>
    partKey(stores.keyPrefix, where, part),
  ) as [string, string];
  const changed = stores.client.multi().del(list);
  changed.rpush(list, ...messages.map((message) => JSON.stringify(message)));
  changed.hset(state, { rev: revision, n: messages.length, head: JSON.stringify(head) });
  await changed.exec();
}
