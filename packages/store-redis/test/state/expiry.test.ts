import { uuidv7 } from "@holdfast/core/store-kit";
import { privateRedis } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

// A server of their own: every key on it is theirs.
const stores = new Stores(() => privateRedis());

const kept = ["state", "messages", "log", "log-ids", "blobs"] as const;
const ttlMs = 600_000;

const record = () => ({
  ...({ v: 1, id: uuidv7(), callId: "c", at: new Date().toISOString(), kind: "message" } as const),
  message: { ...firstWrite(["x".repeat(70_000)]).append[0] } as never,
});

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
  await store.save(slot, firstWrite(["one"], { log: [record()] }));
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

test("without ttlMs nothing expires, also what once would have", async () => {
  await stores.open({ ttlMs }).save(slot, firstWrite(["one"], { log: [record()] }));
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
    await store.save(odd, firstWrite([id], { lease: lease.token, log: [record()] }));
    const tags = kept.map((part) => partKey(stores.keyPrefix, odd, part).replace(/:[^:]*$/, ""));
    expect(new Set(tags).size).toBe(1);
    expect(tags[0]?.slice(stores.keyPrefix.length)).toMatch(/^v1:\{[a-z2-7]{52}\}$/);
  }
  const keys = await stores.keys();
  expect(keys.length).toBeGreaterThan(ids.length * 5);
  expect(keys.filter((key) => !key.startsWith(`${stores.keyPrefix}v1:`))).toEqual([]);
  expect((await store.list({ limit: 50 })).slots).toHaveLength(ids.length);
});
