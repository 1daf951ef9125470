import type { SessionInfo, Slot, SlotQuery } from "@holdfast/core";
import { loadWhole, slotText } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { partKey, userIndexKey, waitingIndexKey } from "../../src/keys.js";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { keysBelow, ownPrefix } from "../log/redis-logs.js";
import { watchedConnection } from "../log/watched-connection.js";
import { firstWrite, loadState, nextWrite } from "../state/stores.js";
import { indexLab, slotOf } from "./sessions.js";

const lab = indexLab();
const { client, connection } = lab;

const HOUR = 3_600_000;
const ofAgent = { agentId: "agent" };
const ofUser = { agentId: "agent", userId: "user" };
const waits = { info: { waiting: true } };
const ends = { info: { waiting: false } };

let keyPrefix: string;
let store: RedisAgentStateStore;

beforeEach(() => {
  keyPrefix = ownPrefix();
  store = new RedisAgentStateStore({ client, keyPrefix });
});
afterEach(() => store.close());

async function save(where: Slot, fields: { readonly info?: SessionInfo }): Promise<void> {
  const loaded = await store.load(where);
  const write =
    loaded === null ? firstWrite([], fields) : nextWrite(await loadState(store, where), [], fields);
  await store.save(where, write);
}

/** A session as the release before saved it, which knew no index of those that wait. */
async function saveAsBefore(where: Slot, info: SessionInfo): Promise<void> {
  await save(where, { info });
  await client.hdel(partKey(keyPrefix, where, "state"), "wait");
  for (const key of await waitingKeys()) await client.zremrangebyscore(key, "-inf", Date.now());
}

async function listed(query: SlotQuery = {}): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ waiting: true, ...query, cursor });
    found.push(...page.slots.map(({ slot }) => slot.sessionId));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found.sort();
}

/** Sessions that a listing looks at. */
async function looksOf(query: SlotQuery): Promise<number> {
  const names: string[] = [];
  const on = watchedConnection(connection, ({ name }) => void names.push(name));
  await lab.sessions({ on, keyPrefix }).pages({ waiting: true, ...query });
  return names.filter((name) => name === "look").length;
}

async function waitingKeys(): Promise<string[]> {
  return (await keysBelow(client, keyPrefix)).filter((key) => key.endsWith("-waiting"));
}

async function waitingEntries(): Promise<number> {
  const key = waitingIndexKey(userIndexKey(keyPrefix, "agent", "user"));
  return (await client.zrange(key, "0", "-1")).filter((member) => member.startsWith("[")).length;
}

test("once all were looked at, a listing looks at those that wait alone, whatever is saved since", async () => {
  const slots = Array.from({ length: 150 }, (_, at) => slotOf(`s${at}`));
  await Promise.all(slots.map((slot, at) => save(slot, at % 50 === 0 ? waits : ends)));
  for (const query of [ofAgent, ofUser]) {
    expect(await looksOf(query), "the first one").toBeGreaterThanOrEqual(150);
    expect(await looksOf(query)).toBe(3);
  }
  const later = Array.from({ length: 50 }, (_, at) => slotOf(`later ${at}`));
  await Promise.all(later.map((slot, at) => save(slot, at === 7 ? waits : ends)));
  for (const query of [ofAgent, ofUser]) {
    expect(await looksOf(query)).toBe(4);
    expect(await listed({ ...query, limit: 1 })).toEqual(["later 7", "s0", "s100", "s50"]);
  }
});

test("sessions that the release before left waiting are found, also page by page, and from then on in the index", async () => {
  for (const at of [1, 2, 3]) await saveAsBefore(slotOf(`old ${at}`), { waiting: true });
  for (const at of [1, 2, 3]) await saveAsBefore(slotOf(`not ${at}`), { waiting: false });
  expect(await waitingKeys()).toEqual([]);
  for (const query of [ofAgent, ofUser]) {
    expect(await listed({ ...query, limit: 1 })).toEqual(["old 1", "old 2", "old 3"]);
    expect(await looksOf(query)).toBe(3);
    expect(await listed({ ...query, limit: 1 })).toEqual(["old 1", "old 2", "old 3"]);
  }
  await save(slotOf("old 2"), ends);
  await save(slotOf("old 3"), ends);
  await save(slotOf("old 3"), waits);
  for (const query of [ofAgent, ofUser]) expect(await listed(query)).toEqual(["old 1", "old 3"]);
});

test.each([
  ["of all sessions", ofUser],
  ["of more sessions", { ...ofAgent, waiting: true }],
])("the cursor of a listing %s leads to no index that is taken for complete", async (_, first) => {
  const slots = Array.from({ length: 6 }, (_, at) => slotOf(`s${at}`));
  for (const slot of slots) await saveAsBefore(slot, { waiting: true });
  const { cursor } = await store.list({ ...first, limit: 1 });
  // Sessions that the pages before have passed.
  for (const key of await waitingKeys()) await client.del(key);
  const rest = await store.list({ ...ofUser, waiting: true, cursor });
  expect(rest.slots).toHaveLength(5);
  expect(rest.cursor).toBeUndefined();
  expect(await listed(ofUser)).toHaveLength(6);
});

test("an index that is lost is made again from the sessions", async () => {
  for (const at of [1, 2]) await save(slotOf(`s${at}`), waits);
  expect(await listed(ofUser)).toEqual(["s1", "s2"]);
  await client.del(...(await waitingKeys()));
  expect(await listed(ofUser)).toEqual(["s1", "s2"]);
  expect(await looksOf(ofUser)).toBe(2);
});

test("a wait that has ended leaves no entry, nor does a deleted session", async () => {
  await save(slotOf("ended"), waits);
  await save(slotOf("ended"), waits);
  await save(slotOf("deleted"), waits);
  expect(await waitingEntries()).toBeGreaterThanOrEqual(2);
  await save(slotOf("ended"), ends);
  await store.delete(slotOf("deleted"));
  await eventually(async () => (await waitingEntries()) === 0, { what: "no entries left" });
});

test("a save that neither begins nor ends a wait sends nothing more than before", async () => {
  const scripts = async (fields: { readonly info?: SessionInfo }): Promise<number> => {
    const calls = async (): Promise<number> => {
      const stats = await own.info("commandstats");
      return [...stats.matchAll(/cmdstat_(?:evalsha|zrem|eval):calls=(\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    };
    const loaded = await loadState(store, slotOf("s"));
    const before = await calls();
    await store.save(slotOf("s"), nextWrite(loaded, [], fields));
    return (await calls()) - before;
  };
  await using server = await privateRedis();
  const own = new Redis(server.url);
  store = new RedisAgentStateStore({ client: own, keyPrefix });
  await save(slotOf("s"), ends);
  expect(await scripts(ends)).toBe(1);
  expect(await scripts(waits), "two entries, then the save").toBe(3);
  // Sent without being waited for, but on the same connection before the next one.
  await save(slotOf("s"), ends);
  expect(await scripts(ends)).toBe(1);
  expect(await scripts({})).toBe(1);
  await store.close();
  own.disconnect();
});

test("the entry comes before the save: one that is refused leaves it, and it is not shown", async () => {
  await save(slotOf("s"), ends);
  await expect(store.save(slotOf("s"), firstWrite([], waits))).rejects.toThrow();
  expect(await waitingEntries()).toBe(1);
  expect(await listed(ofUser)).toEqual([]);
});

test("an entry without its wait is skipped, and dropped when it is not fresh", async () => {
  const { waiting } = lab.sessions({ keyPrefix }).index;
  await save(slotOf("waits"), waits);
  await save(slotOf("does not"), ends);
  // As a process leaves them that dies before its save.
  for (const name of ["waits", "does not", "never saved"])
    await waiting.add(slotOf(name), "a save");
  for (const query of [ofAgent, ofUser])
    for (const _ of ["all sessions", "the index"]) expect(await listed(query)).toEqual(["waits"]);
  expect(await waitingEntries(), "they may be about to be saved").toBe(4);
  for (const key of await waitingKeys())
    for (const member of await client.zrange(key, "0", "-1"))
      if (member.startsWith("[")) await client.zadd(key, Date.now() - HOUR, member);
  expect(await listed(ofUser)).toEqual(["waits"]);
  expect(await waitingEntries()).toBe(1);
});

test("whatever dies, comes late or is repeated, a listing has exactly those that wait", async () => {
  const step = fc.record({
    session: fc.nat(3),
    move: fc.constantFrom(
      "wait",
      "end",
      "none",
      "delete",
      "die",
      "late",
      "repeat",
      "before",
      "list",
    ),
    limit: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      keyPrefix = ownPrefix();
      const stores = [1, 2].map(() => new RedisAgentStateStore({ client, keyPrefix }));
      const { waiting } = lab.sessions({ keyPrefix }).index;
      /** Op of the save from which each session waits. */
      const model: Model = new Map();
      const writes: { slot: Slot; write: ReturnType<typeof firstWrite> }[] = [];
      let hasListed = false;
      for (const [at, { session, move, limit }] of steps.entries()) {
        store = stores[at % 2] as RedisAgentStateStore;
        const slot = slotOf(`s${session}`, session % 2 === 0 ? "user" : null);
        const name = slotText(slot);
        const put = async (fields: object): Promise<string> => {
          const loaded = await loadWhole(store, slot);
          const write = loaded === null ? firstWrite([], fields) : nextWrite(loaded, [], fields);
          await store.save(slot, write);
          writes.push({ slot, write });
          return write.op;
        };
        const earlier = writes.filter((each) => slotText(each.slot) === name);
        if (move === "wait") model.set(name, await put(waits));
        if (move === "end") await put(ends).then(() => model.delete(name));
        if (move === "none") await put({});
        if (move === "delete") await store.delete(slot).then(() => model.delete(name));
        if (move === "die") await waiting.add(slot, `of a save that was never made ${at}`);
        // The removal of an earlier wait, by a process that was held up.
        if (move === "late")
          for (const { write } of earlier)
            if (write.op !== model.get(name)) waiting.remove(slot, JSON.stringify(write.op));
        if (move === "repeat" && earlier[0] !== undefined)
          await store.save(slot, earlier[0].write).catch(() => undefined);
        if (move === "repeat" && (await store.load(slot)) !== null && !model.has(name))
          await put(ends);
        // By nodes of the release before, which are gone before the first listing.
        if (move === "before" && !hasListed)
          await saveAsBefore(slot, { waiting: true }).then(() => model.set(name, ""));
        if (move !== "list") continue;
        hasListed = true;
        await expectListed(model, limit);
      }
      await expectListed(model, 2);
      for (const each of stores) await each.close();
      store = new RedisAgentStateStore({ client, keyPrefix });
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 400 : 30 },
  );
});

type Model = Map<string, string>;

async function expectListed(model: Model, limit: number): Promise<void> {
  const wanted = [...model.keys()];
  for (const query of [{}, ofAgent]) {
    const pages = await lab.sessions({ keyPrefix }).pages({ ...query, waiting: true, limit });
    expect(pages.flat().sort()).toEqual(wanted.sort());
  }
}

test("with a ttl the indexes expire, and do not keep what has expired", async () => {
  await store.close();
  store = new RedisAgentStateStore({ client, keyPrefix, ttlMs: HOUR });
  await save(slotOf("gone"), waits);
  await save(slotOf("kept"), waits);
  expect(await listed(ofUser)).toEqual(["gone", "kept"]);
  for (const key of await waitingKeys()) {
    expect(await client.pttl(key), key).toBeGreaterThan(HOUR);
    for (const member of await client.zrange(key, "0", "-1"))
      if (member.startsWith("[")) await client.zadd(key, Date.now() - 5 * HOUR, member);
  }
  await client.del(partKey(keyPrefix, slotOf("gone"), "state"));
  for (let at = 0; at < 3; at++) await save(slotOf(`s${at}`), waits);
  const key = waitingIndexKey(userIndexKey(keyPrefix, "agent", "user"));
  const members = await client.zrange(key, "0", "-1");
  expect(members.filter((member) => member.includes("gone"))).toEqual([]);
  expect(members).toContain("complete");
  expect(await listed(ofUser)).toEqual(["kept", "s0", "s1", "s2"]);
});
