import { StateCorruptError, StateTooLargeError, StoreUnavailableError } from "@holdfast/core";
import { MAX_INBOX_BYTES } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { roundTripsOf } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { userIndexKey } from "../../src/keys.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "../state/stores.js";
import { inputEntry } from "./sample-entries.js";

const stores = new Stores();
const LARGE = "x".repeat(70_000);

/** A store behind a proxy that counts the round trips of `run`, after one run that loads scripts. */
async function averageRoundTrips(
  run: (store: ReturnType<Stores["open"]>, turn: number) => Promise<void>,
): Promise<number> {
  await using proxy = await stores.proxy();
  const store = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
  await run(store, 0);
  const roundTrips = await roundTripsOf(proxy, async () => {
    for (let turn = 1; turn <= 5; turn++) await run(store, turn);
  });
  await store.close();
  return roundTrips / 5;
}

/** A turn whose input waits in the inbox from the grant to the save. */
async function turn(
  store: ReturnType<Stores["open"]>,
  known: { revision?: string; count: number },
  text: string,
): Promise<void> {
  const put = inputEntry(`e-${known.count}`, text);
  const lease = await store.fuses.gate.acquire(slot, {
    ...{ callId: put.callId, put },
    known: () => known.revision,
  });
  expect(lease.inbox).toEqual([put]);
  const { revision = null, count: keep } = known;
  known.revision = await store.save(slot, {
    ...firstWrite([text.slice(0, 10)], { expected: revision, keep, takes: [put.id] }),
    ...{ lease: lease.token, release: true, info: { unfinished: false } },
    callRecord: { record: { callId: put.callId }, keep: 8 },
  });
  known.count++;
  await lease.release();
}

test("a warm turn takes two round trips with its input, call record and info; large input takes one more", async () => {
  const [small, large] = [{ count: 0 }, { count: 0 }];
  expect(await averageRoundTrips((store) => turn(store, small, "hello"))).toBe(2);
  expect(await stores.client.exists(stores.key("inbox"))).toBe(0);
  expect(await stores.client.llen(stores.key("call-records"))).toBe(6);
  await stores.open().delete(slot);
  expect(await averageRoundTrips((store) => turn(store, large, LARGE))).toBe(3);
  expect(await stores.client.exists(stores.key("inbox"))).toBe(0);
});

test("the first call of a session takes one round trip more, which indexes it", async () => {
  const first = (put: boolean) =>
    averageRoundTrips(async (store, turn) => {
      const where = { ...slot, sessionId: `first-${turn}-${put}` };
      const entry = put ? { put: inputEntry(`e-${turn}`) } : {};
      await (await store.fuses.gate.acquire(where, { callId: "c", ...entry })).release();
    });
  expect(await first(false)).toBe(2);
  expect(await first(true)).toBe(3);
});

test("a call whose session cannot be indexed does not begin, and leaves nothing", async () => {
  const store = stores.open();
  // A key of another type, which the index cannot be.
  await stores.client.set(userIndexKey(stores.keyPrefix, slot.agentId, slot.userId), "in the way");
  const put = inputEntry("e-1");
  const refused = store.fuses.gate.acquire(slot, { callId: "c-1", put });
  await expect(refused).rejects.toThrow();
  await eventually(async () => (await store.fuses.gate.calls(slot)).length === 0);
  expect(await store.inbox.read(slot)).toEqual([]);
});

test.each([
  ["input that travels with the claim", "hello"],
  ["large input", LARGE],
])("%s whose answer was lost is put once, under one lease", async (_, text) => {
  await using proxy = await stores.proxy();
  const store = stores.open({ url: `redis://${proxy.host}:${proxy.port}` });
  await (await store.fuses.gate.acquire(slot, { callId: "first" })).release();
  const put = inputEntry("e-1", `only once ${text}`);
  let lost = 0;
  proxy.losesReply = (request) => request.includes("only once") && lost++ === 0;
  const lease = await store.fuses.gate.acquire(slot, { callId: "c-1", put });
  expect(lost).toBeGreaterThan(1);
  expect(lease.inbox).toEqual([put]);
  expect(await store.inbox.read(slot)).toEqual([put]);
  await lease.release([put.id]);
  expect(await stores.client.exists(stores.key("inbox"), stores.key("lease"))).toBe(0);
});

test("a copy of a command that arrives late brings no entry back, neither a taken one nor a dropped one", async () => {
  const store = stores.open();
  const { backend } = store.fuses.gate;
  const terms = { mode: "queue", maxQueue: 100, known: undefined, deadlineMs: 5_000 } as const;
  const entry = (id: string) => inputEntry(id, id === "large" ? LARGE : id);
  const enter = (id: string) =>
    backend.enter({ slot, token: id, callId: id }, { ...terms, put: entry(id) });
  await store.save(slot, firstWrite(["one"]));
  for (const id of ["taken", "dropped", "large", "removed"]) {
    expect(await enter(id)).toMatchObject({ kind: "granted", inbox: [entry(id)] });
    if (id === "taken")
      await store.save(slot, nextWrite(await loadState(store), [], { takes: [id], lease: id }));
    if (id === "removed") await store.inbox.remove(slot, [id]);
    await backend.leave(
      { slot, token: id, callId: id },
      id === "dropped" || id === "large" ? [id] : [],
    );
    expect(await enter(id)).toMatchObject({ kind: "granted", inbox: [] });
    expect(await store.inbox.read(slot)).toEqual([]);
    await backend.leave({ slot, token: id, callId: id }, []);
  }
  // Of many only the last are remembered.
  const gone = async () => (await stores.client.hget(stores.key("state"), "gone"))?.split("\n");
  expect(await gone()).toEqual(['"taken"', '"dropped"', '"large"', '"removed"', ""]);
  const many = Array.from({ length: 20 }, (_, at) => `e-${at}`);
  await store.inbox.remove(slot, many);
  expect(await gone()).toEqual([...many.slice(-8).map((id) => JSON.stringify(id)), ""]);
});

test("a call that gives up while its large input is put leaves neither lease nor entry", async () => {
  const store = stores.open();
  const leaving = new AbortController();
  const put = inputEntry("e-1", LARGE);
  const call = store.fuses.gate.acquire(slot, { callId: "c-1", put, signal: leaving.signal });
  leaving.abort("gave up");
  await expect(call).rejects.toBe("gave up");
  // Behind the withdrawal: commands on a slot are in order.
  const next = await store.fuses.gate.acquire(slot, { callId: "c-2" });
  expect(next.inbox).toEqual([]);
  await next.release();
});

test("input that too few replicas have is refused, and withdrawn", async () => {
  const store = stores.open({ minReplicas: 1, commandTimeoutMs: 2_000 });
  const put = inputEntry("e-1");
  await expect(store.fuses.gate.acquire(slot, { callId: "c-1", put })).rejects.toSatisfy(
    StoreUnavailableError.is,
  );
  const next = await store.fuses.gate.acquire(slot, { callId: "c-2" });
  expect(next.inbox).toEqual([]);
  await next.release();
});

test("an inbox holds 8 MB of entries in UTF-8, not more", async () => {
  const { inbox } = stores.open();
  const overhead = Buffer.byteLength(JSON.stringify(inputEntry("e-1", "")));
  const half = "é".repeat((MAX_INBOX_BYTES / 2 - overhead) / 2);
  await inbox.put(slot, inputEntry("e-1", half));
  await inbox.put(slot, inputEntry("e-2", half));
  await expect(inbox.put(slot, inputEntry("e-3"))).rejects.toSatisfy(StateTooLargeError.is);
  await inbox.put(slot, inputEntry("e-2", "there already"));
  expect(await inbox.read(slot)).toEqual([inputEntry("e-1", half), inputEntry("e-2", half)]);
});

test("a damaged inbox is reported, and does not keep the session from being deleted", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  await stores.client.rpush(stores.key("inbox"), "not an entry");
  await expect(store.inbox.read(slot)).rejects.toSatisfy(StateCorruptError.is);
  const lease = await store.fuses.gate.acquire(slot, { callId: "c-1" });
  expect(lease.inbox).toBeUndefined();
  await store.delete(slot);
  await lease.release();
  expect(await store.inbox.read(slot)).toEqual([]);
});

test("records of a session that a release without them deleted are not the next one's", async () => {
  const store = stores.open();
  const callRecord = (callId: string) => ({ record: { callId }, keep: 2 });
  await store.save(slot, firstWrite(["one"], { callRecord: callRecord("old") }));
  await stores.client.del(stores.key("state"), stores.key("messages"));
  await store.save(slot, firstWrite(["new"]));
  expect((await loadState(store)).callRecords).toEqual([]);
  for (const callId of ["a", "b", "b", "c"])
    await store.save(
      slot,
      nextWrite(await loadState(store), [], { callRecord: callRecord(callId) }),
    );
  expect((await loadState(store)).callRecords).toEqual([{ callId: "c" }, { callId: "b" }]);
});
