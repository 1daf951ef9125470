import { StateConflictError, StateCorruptError } from "@holdfast/core";
import { expect, test } from "vitest";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

const stores = new Stores();

const damages: readonly (readonly [what: string, damage: () => Promise<unknown>])[] = [
  ["a message is missing", () => stores.client.lpop(stores.key("messages"))],
  ["a message is there twice", () => stores.client.rpush(stores.key("messages"), "{}")],
  ["a message is not JSON", () => stores.client.lset(stores.key("messages"), 1, "{")],
  ["all messages are gone", () => stores.client.del(stores.key("messages"))],
  ["the state is gone and its messages are not", () => stores.client.del(stores.key("state"))],
  ["the head is gone", () => stores.client.hdel(stores.key("state"), "head")],
  ["the head is no object", () => stores.client.hset(stores.key("state"), "head", "[]")],
  ["the revision is gone", () => stores.client.hdel(stores.key("state"), "rev")],
  [
    "it is another session's",
    () => stores.client.hset(stores.key("state"), "slot", '["agent","user","other"]'),
  ],
];

for (const [what, damage] of damages)
  test(`${what}: loading says so, and the session can be deleted all the same`, async () => {
    const store = stores.open();
    await store.save(slot, firstWrite(["a secret", "two", "three"]));
    const { revision } = await loadState(store);
    await damage();
    const error = await store.load(slot).catch((reason: unknown) => reason);
    expect(StateCorruptError.is(error), String(error)).toBe(true);
    expect(String(error)).not.toContain("secret");
    await expect(store.save(slot, firstWrite([]))).rejects.toThrow();

    const lease = await store.fuses.gate.acquire(slot, { callId: "c" });
    expect(lease.loaded).toBeUndefined();
    expect(await store.delete(slot)).toBe(true);
    await lease.release();
    expect(await store.load(slot, revision)).toBeNull();
    expect(await stores.keys(stores.keyPrefix)).toEqual([expect.stringContaining(":agents")]);
  });

test("a message that went missing is noticed although the revision is known", async () => {
  const store = stores.open();
  const revision = await store.save(slot, firstWrite(["one", "two"]));
  expect(await store.load(slot, revision)).toBe("unchanged");
  await stores.client.lpop(stores.key("messages"));
  await expect(store.load(slot, revision)).rejects.toSatisfy(StateCorruptError.is);
});

test("after a failover that lost saves, a node that saw them cannot overwrite what came instead", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  const parts = ["state", "messages"] as const;
  const dumps = await Promise.all(parts.map((part) => stores.client.dumpBuffer(stores.key(part))));
  await store.save(slot, nextWrite(await loadState(store), ["lost"]));
  const stale = await loadState(store);
  // The replica that took over had not heard of the second save.
  for (const [index, part] of parts.entries())
    await stores.client.restore(stores.key(part), 0, dumps[index] as Buffer, "REPLACE");
  const other = stores.open();
  await other.save(slot, nextWrite(await loadState(other), ["instead"]));
  const current = await loadState(other);
  expect(current.revision.split(".")[0]).toBe(stale.revision.split(".")[0]);
  await expect(store.save(slot, nextWrite(stale, ["late"]))).rejects.toSatisfy(
    StateConflictError.is,
  );
  expect(await store.load(slot, stale.revision)).toEqual({ ...current, rolledBack: true });
});
