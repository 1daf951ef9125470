import {
  type JsonObject,
  type JsonValue,
  type Message,
  StateConflictError,
  StateTooLargeError,
  StoreUnavailableError,
  textOf,
  UnknownOutcomeError,
  userMessage,
} from "@holdfast/core";
import { type LogDraft, loadWhole, logRecordText, uuidv7 } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { storedRecords } from "../../src/log/stored-records.js";
import type { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { inputEntry } from "../inbox/sample-entries.js";
import { ioredis } from "./servers.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

const stores = new Stores(() => privateRedis());

test("a turn sends as many bytes on a session of 5,000 messages as on one of 10", async () => {
  const sent = [];
  for (const count of [10, 5_000]) {
    await using proxy = await stores.proxy();
    const store = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
    const where = { ...slot, sessionId: `of-${count}` };
    await store.save(where, firstWrite(Array.from({ length: count }, (_, at) => `text ${at}`)));
    const loaded = await loadState(store, where);
    // Connections and scripts are there from the first turn on.
    await (await store.fuses.gate.acquire(slot, { callId: "warm" })).release();
    const before = proxy.bytesUp + proxy.bytesDown;
    const { gate } = store.fuses;
    const lease = await gate.acquire(where, { callId: "c", known: () => loaded.revision });
    expect(lease.loaded).toBe("unchanged");
    const write = nextWrite(loaded, ["a new one"], { lease: lease.token, release: true });
    await store.save(where, { ...write, replace: [[3, userMessage("replaced")]] });
    sent.push(proxy.bytesUp + proxy.bytesDown - before);
    await store.close();
  }
  const [small = 0, large = 0] = sent;
  expect(Math.abs(large - small)).toBeLessThan(50);
});

test("a warm turn sends little more than what was said", async () => {
  await using proxy = await stores.proxy();
  const url = `redis://${proxy.host}:${proxy.port}`;
  const store = stores.open({ url, keyPrefix: "holdfast:" });
  const where = { ...slot, sessionId: uuidv7() };
  await store.save(where, firstWrite(["first"]));
  const turn = async () => {
    const loaded = await loadState(store, where);
    const before = proxy.bytesUp;
    const { gate } = store.fuses;
    const lease = await gate.acquire(where, { callId: uuidv7(), known: () => loaded.revision });
    const write = nextWrite(loaded, ["a question", "an answer"]);
    const said = write.append.map((message) => messageRecord(message));
    const log = [...said, markRecord()];
    await store.save(where, { ...write, lease: lease.token, release: true, log });
    return proxy.bytesUp - before - Buffer.byteLength(JSON.stringify(write.append));
  };
  await turn();
  expect(await turn()).toBeLessThan(1_250);
});

test("a head that did not change is not sent again, and one that did is never lost", async () => {
  await using proxy = await stores.proxy();
  const here = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
  const there = stores.open();
  const first = { note: "first".repeat(1_000) };
  const second = { note: "second".repeat(1_000) };
  const save = async (store: RedisAgentStateStore, head: JsonObject) => {
    const before = proxy.bytesUp;
    await store.save(slot, nextWrite(await loadState(there), [], { head }));
    expect((await loadState(there)).head).toEqual(head);
    return proxy.bytesUp - before;
  };
  await here.save(slot, firstWrite([], { head: first }));
  expect(await save(here, first)).toBeLessThan(2_000);
  expect(await save(here, second)).toBeGreaterThan(5_000);
  expect(await save(here, second)).toBeLessThan(2_000);
  await save(there, first);
  expect(await save(here, second)).toBeGreaterThan(5_000);
  const write = nextWrite(await loadState(here), [], { head: first });
  await there.save(slot, write);
  const repeated = { ...write, head: second };
  const revision = await here.save(slot, repeated);
  expect(
    await save(here, second),
    "a repeated save wrote the head of its first run",
  ).toBeGreaterThan(5_000);
  expect((await loadState(there)).revision).not.toBe(revision);
});

test("a save writes the head again when the state has lost it", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  const loaded = await loadState(store);
  await stores.client.hdel(stores.key("state"), "head");
  await store.save(slot, nextWrite(loaded, ["two"]));
  expect((await loadState(store)).head).toEqual(loaded.head);
});

test("input that came with the lease is not sent again by the save that takes it in", async () => {
  await using proxy = await stores.proxy();
  const store = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
  const other = stores.open();
  await store.save(slot, firstWrite(["one"]));
  const turn = async (messages: readonly Message[], meanwhile = async (_: string) => {}) => {
    const loaded = await loadState(store);
    const put = { ...inputEntry(uuidv7()), body: { input: messages as unknown as JsonValue } };
    const lease = await store.fuses.gate.acquire(slot, { callId: "c", put });
    await meanwhile(put.id);
    const before = proxy.bytesUp;
    const append = [...messages, userMessage("answer")];
    const log = append.map((message) => messageRecord(message));
    const fields = { append, log, takes: [put.id], lease: lease.token, release: true };
    await store.save(slot, nextWrite(loaded, [], fields));
    expect((await loadState(other)).messages).toEqual([...loaded.messages, ...append]);
    const records = await other.fuses.log.read(slot);
    expect(records.slice(-append.length).map(({ message }) => message)).toEqual(append);
    expect(await other.inbox.read(slot)).toEqual([]);
    return proxy.bytesUp - before;
  };
  const said = () => ["漢字🌤é", "plain", "\t\n"].map((text) => userMessage(text.repeat(1_000)));
  await turn(said());
  expect(await turn(said())).toBeLessThan(3_000);
  // The entry was taken in by another holder: the texts are sent after all.
  expect(await turn(said(), (id) => other.inbox.remove(slot, [id]))).toBeGreaterThan(10_000);
  expect(await turn(said())).toBeLessThan(3_000);
});

test("a message that is saved and logged is sent once, and is in the log as it was said", async () => {
  const connection = connect(stores.client, { commandTimeoutMs: 5_000 });
  const words = fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 6 });
  const property = fc.asyncProperty(words, fc.infiniteStream(fc.boolean()), async (texts, flip) => {
    const store = stores.open();
    const slot = { agentId: "agent", userId: "user", sessionId: uuidv7() };
    const write = firstWrite(texts);
    const others = texts.map((text) => userMessage(text));
    const said = write.append.flatMap((message, at) => {
      const other = others[at] as Message;
      return flip.next().value ? [message, other] : [other, message];
    });
    const log = said.map((message) => messageRecord(message));
    await store.save(slot, { ...write, log: [...log, markRecord()] });
    const read = await store.fuses.log.read(slot);
    expect(read.slice(0, -1).map(({ message }) => message)).toEqual(said);
    expect(read.map(({ seq }) => seq)).toEqual(read.map((_, index) => index + 1));
    const all = { from: 1, to: read.length, newestFirst: false, limit: read.length };
    const stored: string[] = [];
    for await (const batch of storedRecords(connection, stores.keyPrefix, slot, all))
      stored.push(...batch.map(({ text }) => text));
    expect(stored).toEqual(read.map((record) => logRecordText(record)));
    await store.close();
  });
  await fc.assert(property, { numRuns: 30 });
  await connection.close();
});

test("8 MB in 5,000 messages come back as they were", async () => {
  const store = stores.open();
  const text = "漢字🌤é".repeat(140);
  const write = firstWrite(Array.from({ length: 5_000 }, (_, at) => `${at} ${text}`));
  expect(Buffer.byteLength(JSON.stringify(write.append))).toBeGreaterThan(8 << 20);
  const revision = await store.save(slot, write);
  const lease = await store.fuses.gate.acquire(slot, { callId: "c" });
  expect(lease.loaded).toEqual({
    ...{ revision, head: write.head, messages: write.append },
    callRecords: [],
  });
  await lease.release();
});

test("a save whose answer was lost is done once, with its log and its release", async () => {
  await using proxy = await stores.proxy();
  const store = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
  await store.save(slot, firstWrite(["one"]));
  const loaded = await loadState(store);
  const lease = await store.fuses.gate.acquire(slot, { callId: "c-1" });
  const waiting = stores.open().fuses.gate.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await store.fuses.gate.calls(slot)).length === 2);
  let lost = 0;
  proxy.losesReply = (request) => request.includes("only once") && lost++ === 0;
  const write = nextWrite(loaded, ["only once"], { lease: lease.token, release: true });
  const revision = await store.save(slot, write);
  expect(lost).toBeGreaterThan(1);
  const next = await waiting;
  const after = await loadState(store);
  expect(after.revision).toBe(revision);
  expect(after.messages.map(textOf)).toEqual(["one", "only once"]);
  expect(await store.save(slot, write), "the next holder keeps its lease").toBe(revision);
  expect(await store.fuses.gate.calls(slot)).toEqual(["c-2"]);
  await next.release();
});

test("a lease that was taken again before its save was repeated goes back with it", async () => {
  const store = stores.open({ leaseMs: 3_000 });
  const { gate } = store.fuses;
  const lease = await gate.acquire(slot, { callId: "c-1" });
  const write = firstWrite(["one"], { lease: lease.token, release: true });
  // Through another store: as if this process had not heard of it.
  const revision = await stores.open().save(slot, write);
  await eventually(async () => (await gate.calls(slot)).length === 1);
  expect(await store.save(slot, write)).toBe(revision);
  expect(await gate.calls(slot)).toEqual([]);
  expect(lease.lost.aborted).toBe(false);
});

test("a replica that is not there is waited for, and asked again by repeating the save", async () => {
  const store = stores.open({ minReplicas: 1, commandTimeoutMs: 2_000 });
  const write = firstWrite(["one"]);
  await expect(store.save(slot, write)).rejects.toSatisfy(UnknownOutcomeError.is);
  await expect(store.save(slot, write)).rejects.toSatisfy(UnknownOutcomeError.is);
  const other = firstWrite(["other"]);
  await expect(store.save(slot, other), "nothing was written").rejects.toSatisfy(
    StateConflictError.is,
  );
  const plain = stores.open();
  expect(await plain.save(slot, write)).toBe((await loadState(plain)).revision);
});

test("a lease that its own heartbeat took again while replicas were waited for goes back", async () => {
  await using master = await privateRedis({ args: ["--repl-diskless-sync-delay", "0"] });
  const replicaOf = ["--replicaof", master.host, String(master.port)];
  await using replica = await privateRedis({ args: replicaOf });
  const { client, end } = ioredis(master.url);
  const store = stores.open({ url: master.url, minReplicas: 1, leaseMs: 3_000 });
  await eventually(async () => (await client.info("replication")).includes("state=online"));
  const { gate } = store.fuses;
  const lease = await gate.acquire(slot, { callId: "c-1" });
  replica.process.pause();
  const saving = store.save(slot, firstWrite(["one"], { lease: lease.token, release: true }));
  // The save, which took the lease away, is done on the master; so the current holder has taken it since.
  await eventually(async () => (await client.exists(stores.key("state"))) === 1);
  await eventually(async () => (await client.exists(stores.key("lease"))) === 1);
  replica.process.resume();
  await saving;
  await lease.release();
  expect(await gate.calls(slot)).toEqual([]);
  await end();
});

test("what is too large is refused before anything is sent", async () => {
  const store = stores.open();
  const large = (bytes: number) => "x".repeat(bytes);
  const writes = [
    firstWrite([], { head: { note: large(1 << 20) } }),
    firstWrite([large(16 << 20)]),
    firstWrite(Array.from({ length: 5 }, () => large(15 << 20))),
  ];
  for (const write of writes) {
    const error = await store.save(slot, write).catch((reason: unknown) => reason);
    expect(StateTooLargeError.is(error)).toBe(true);
    expect(String(error)).not.toContain("xxx");
  }
  expect(await stores.keys(stores.keyPrefix)).toEqual([]);
  const fits = firstWrite([large(1 << 20)], { head: { note: large(1_000 << 10) } });
  await store.save(slot, fits);
});

test("ops of any text are told apart", async () => {
  const store = stores.open();
  const ops = ['b"', 'a"b"', "b", "a\tb\n", "", "\ud800", "\n", "b\t1.00"];
  const done = new Map<string, string>();
  for (const op of ops) {
    const loaded = await loadWhole(store, slot);
    const write = loaded === null ? firstWrite([op], { op }) : nextWrite(loaded, [op], { op });
    done.set(op, await store.save(slot, write));
  }
  expect(new Set(done.values()).size).toBe(ops.length);
  for (const [op, revision] of done)
    expect(await store.save(slot, firstWrite([], { op }))).toBe(revision);
});

test("scripts that the server forgot are sent again", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  await stores.client.script("FLUSH");
  const loaded = await loadState(store);
  await stores.client.script("FLUSH");
  await store.save(slot, nextWrite(loaded, ["two"]));
  await stores.client.script("FLUSH");
  expect(await store.delete(slot)).toBe(true);
});

test("a closed store says so, and closing it again is fine", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  await Promise.all([store.close(), store.close()]);
  for (const work of [
    () => store.load(slot),
    () => store.save(slot, firstWrite([])),
    () => store.delete(slot),
    () => store.list(),
    () => store.companions().gate.acquire(slot, { callId: "c" }),
    () => store.companions().signals.send(slot, "c", { kind: "interrupt" }),
  ])
    await expect(work()).rejects.toSatisfy(StoreUnavailableError.is);
});

function messageRecord(message: Message): LogDraft {
  return { v: 1, id: uuidv7(), callId: "c", at: message.createdAt, kind: "message", message };
}

function markRecord(): LogDraft {
  const at = "2026-11-17T20:00:00.000Z";
  return { v: 1, id: uuidv7(), callId: "c", at, kind: "mark", mark: { name: "note" } };
}
