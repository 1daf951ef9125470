import { uuidv7 } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { inputEntry } from "../inbox/sample-entries.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

// A server of their own: every key on it is theirs.
const stores = new Stores(() => privateRedis());

const kept = ["state", "messages", "log", "log-ids", "blobs", "inbox", "call-records"] as const;
const ttlMs = 600_000;

const record = () => ({
  ...({ v: 1, id: uuidv7(), callId: "c", at: new Date().toISOString(), kind: "message" } as const),
  message: { ...firstWrite(["x".repeat(70_000)]).append[0] } as never,
});

const beside = { log: [record()], callRecord: { record: { callId: "c" }, keep: 8 } };

async function ttls(): Promise<number[]> {
  return Promise.all(kept.map((part) => stores.client.pttl(stores.key(part))));
}

async function shorten(): Promise<void> {
  for (const part of kept) await stores.client.pexpire(stores.key(part), 60_000);
}

function expectFresh(all: readonly number[]): void {
  for (const ttl of all) expect(ttl).toBeGreaterThan(ttlMs - 60_000);
}

test("everything kept of a session expires together, later with every save and load", async () => {
  const store = stores.open({ ttlMs });
  await store.inbox.put(slot, inputEntry("e-1"));
  expect(await stores.client.pttl(stores.key("inbox"))).toBeGreaterThan(ttlMs - 60_000);
  await store.save(slot, firstWrite(["one"], beside));
  expectFresh(await ttls());
  await shorten();
  const loaded = await loadState(store);
  expectFresh(await ttls());
  await shorten();
  expect(await store.load(slot, loaded.revision)).toBe("unchanged");
  expectFresh(await ttls());
  await shorten();
  await (await store.fuses.gate.acquire(slot, { callId: "c" })).release();
  expectFresh(await ttls());
  await shorten();
  await store.save(slot, nextWrite(loaded, ["two"]));
  expectFresh(await ttls());
});

test("the heartbeat of a call keeps all of its session, which may be older than ttlMs when the call ends", async () => {
  const store = stores.open({ ttlMs, leaseMs: 15_000 });
  await store.inbox.put(slot, inputEntry("e-1"));
  await store.save(slot, firstWrite(["one"], beside));
  const { gate } = store.fuses;
  const lease = await gate.acquire(slot, { callId: "c" });
  await shorten();
  await eventually(async () => (await ttls()).every((ttl) => ttl > ttlMs - 60_000));
  await lease.release();
});

test("a call that waits keeps its session, also behind one that died", async () => {
  const store = stores.open({ ttlMs });
  await store.inbox.put(slot, inputEntry("e-1"));
  await store.save(slot, firstWrite(["one"], beside));
  await stores.client.hset(stores.key("lease"), { token: "dead", call: "c", node: "n" });
  await shorten();
  const ended = new AbortController();
  const waiting = store.fuses.gate.acquire(slot, { callId: "d", signal: ended.signal });
  await eventually(async () => (await ttls()).every((ttl) => ttl > ttlMs - 60_000));
  ended.abort(new Error("no longer"));
  await expect(waiting).rejects.toThrow("no longer");
});

test("a session is kept as long as the lease on it, however short ttlMs is, and for ttlMs after it", async () => {
  const store = stores.open({ ttlMs: 5_000, leaseMs: 300_000 });
  const other = stores.open({ ttlMs: 5_000, leaseMs: 300_000 });
  const lease = await store.fuses.gate.acquire(slot, { callId: "c", put: inputEntry("e-1") });
  await store.save(slot, firstWrite(["one"], { ...beside, lease: lease.token }));
  await store.companions().log.append(slot, [record()]);
  await other.inbox.put(slot, inputEntry("e-2"));
  await other.load(slot);
  for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(60_000);
  await lease.release();
  for (const ttl of await ttls()) expect(ttl).toBeLessThanOrEqual(5_000);
});

test("without ttlMs nothing expires, also what once would have", async () => {
  const expiring = stores.open({ ttlMs });
  await expiring.inbox.put(slot, inputEntry("e-1"));
  await expiring.save(slot, firstWrite(["one"], beside));
  const store = stores.open();
  await store.save(slot, nextWrite(await loadState(store), ["two"]));
  expect(await ttls()).toEqual(kept.map(() => -1));
});

test("no key is outside the prefix, whatever the ids, and all of a slot are in one hash tag", async () => {
  await stores.client.flushall();
  const store = stores.open();
  const ids = ["{}", "{a}", "}{", "*", "?", "[a-z]*", "a\nb", "\u0000", ":"];
  for (const id of ids) {
    const odd = { agentId: id, userId: id, sessionId: id };
    const lease = await store.fuses.gate.acquire(odd, { callId: id });
    await store.inbox.put(odd, inputEntry(id));
    await store.save(odd, firstWrite([id], { ...beside, log: [record()], lease: lease.token }));
    const tags = kept.map((part) => partKey(stores.keyPrefix, odd, part).replace(/:[^:]*$/, ""));
    expect(new Set(tags).size).toBe(1);
    expect(tags[0]?.slice(stores.keyPrefix.length)).toMatch(/^v1:\{[a-z2-7]{52}\}$/);
  }
  const keys = await stores.keys();
  expect(keys.length).toBeGreaterThan(ids.length * 7);
  expect(keys.filter((key) => !key.startsWith(`${stores.keyPrefix}v1:`))).toEqual([]);
  expect((await store.list({ limit: 50 })).slots).toHaveLength(ids.length);
});
