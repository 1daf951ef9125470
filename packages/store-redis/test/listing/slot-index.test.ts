import { InvalidInputError } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentIndexKey, logIndexKey, partKey, userIndexKey } from "../../src/keys.js";
import { ownPrefix } from "../log/redis-logs.js";
import { watchedConnection } from "../log/watched-connection.js";
import { indexLab, slotOf } from "./sessions.js";

const lab = indexLab();
const { client, connection } = lab;

const HOUR = 3_600_000;

test("sessions come newest first, across shards, users and agents, with what their state says", async () => {
  const sessions = lab.sessions();
  const slots = Array.from({ length: 120 }, (_, at) =>
    slotOf(`s${at}`, at % 3 === 0 ? null : `u${at % 2}`, at % 5 === 0 ? "other" : "agent"),
  );
  const now = Date.now();
  for (const [at, slot] of slots.entries()) await sessions.save(slot, now + at, at);
  const newestFirst = slots.toReversed();
  for (const limit of [1_000, 50, 7])
    expect((await sessions.pages({ limit })).flat()).toEqual(newestFirst.map(slotText));
  const ofAgent = newestFirst.filter(({ agentId }) => agentId === "other");
  expect((await sessions.pages({ agentId: "other", limit: 5 })).flat()).toEqual(
    ofAgent.map(slotText),
  );
  const ofUser = newestFirst.filter(({ userId }) => userId === "u1");
  expect((await sessions.pages({ userId: "u1", limit: 5 })).flat()).toEqual(ofUser.map(slotText));
  const [first] = (await sessions.index.list({ limit: 1 })).slots;
  expect(first).toEqual({
    slot: slots[119],
    updatedAt: new Date(now + 119).toISOString(),
    messages: 119,
  });
});

test("sessions saved in one and the same millisecond are all listed, once", async () => {
  const sessions = lab.sessions();
  const slots = Array.from({ length: 400 }, (_, at) =>
    slotOf(`${at % 7 === 0 ? "😀" : "\uffee"}${at}`),
  );
  for (const slot of slots) await sessions.save(slot, 1_700_000_000_000);
  for (const query of [{}, { agentId: "agent", userId: "user" }])
    expect((await sessions.pages({ ...query, limit: 9 })).flat().sort()).toEqual(
      slots.map(slotText).sort(),
    );
});

test("whatever is saved meanwhile, no session is missed and none that stays as it is is listed twice", async () => {
  const move = fc.record({
    session: fc.nat(29),
    clockBehind: fc.boolean(),
    pageBefore: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(move, { maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (moves, limit) => {
        const sessions = lab.sessions();
        const slots = Array.from({ length: 30 }, (_, at) => slotOf(`s${at}`));
        const base = Date.now() - HOUR;
        for (const [at, slot] of slots.entries()) await sessions.save(slot, base + (at >> 2));
        const listed: string[] = [];
        let cursor: string | undefined;
        const saved = new Set<string>();
        for (const { session, clockBehind, pageBefore } of moves) {
          const slot = slots[session];
          if (slot === undefined) continue;
          // Another process, whose memory of what it touched does not hold it back.
          const other = lab.sessions({ keyPrefix: sessions.keyPrefix });
          await other.save(slot, clockBehind ? base - 1_000 : Date.now());
          if (!clockBehind) saved.add(slotText(slot));
          if (!pageBefore || (listed.length > 0 && cursor === undefined)) continue;
          const page = await sessions.index.list({ limit, cursor });
          listed.push(...page.slots.map((info) => slotText(info.slot)));
          cursor = page.cursor;
        }
        while (listed.length === 0 || cursor !== undefined) {
          const page = await sessions.index.list({ limit, cursor });
          listed.push(...page.slots.map((info) => slotText(info.slot)));
          cursor = page.cursor;
        }
        for (const text of slots.map(slotText)) {
          const times = listed.filter((each) => each === text).length;
          expect(times, text).toBeGreaterThanOrEqual(1);
          if (!saved.has(text)) expect(times, text).toBe(1);
        }
      },
    ),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 500 : 25 },
  );
});

test("an entry whose session is gone is passed over and dropped, but not while it is fresh", async () => {
  const sessions = lab.sessions();
  const [old, fresh, living] = [slotOf("old"), slotOf("fresh"), slotOf("living")];
  await sessions.save(old, Date.now() - HOUR);
  await sessions.save(living, Date.now() - HOUR);
  await sessions.index.touch(fresh, Date.now());
  await sessions.expire(old);
  for (const query of [{}, { agentId: "agent", userId: "user" }])
    expect((await sessions.pages(query)).flat()).toEqual([slotText(living)]);
  const entries = (await sessions.entries()).map((member) => JSON.parse(member)[2]);
  expect(entries.sort()).toEqual(["fresh", "fresh", "living", "living"]);
});

test("an entry touched since it was seen is not dropped", async () => {
  const keyPrefix = ownPrefix();
  const slot = slotOf("back again");
  const other = lab.sessions({ keyPrefix });
  let saved = false;
  const watched = watchedConnection(connection, async ({ name }) => {
    // After the look at the state, before the drop.
    if (name !== "look" || saved) return;
    saved = true;
    await other.save(slot, Date.now());
  });
  const sessions = lab.sessions({ keyPrefix, on: watched });
  await sessions.index.touch(slot, Date.now() - HOUR);
  expect((await sessions.pages({})).flat()).toEqual([]);
  expect(saved).toBe(true);
  expect((await sessions.pages({})).flat()).toEqual([slotText(slot)]);
});

test("a thousand dead entries end a page early, and the cursor leads on", async () => {
  const sessions = lab.sessions();
  const living = slotOf("living");
  await sessions.save(living, 1_000);
  const dead = Array.from({ length: 2_500 }, (_, at) => slotOf(`dead ${at}`));
  await Promise.all(dead.map((slot) => sessions.index.touch(slot, Date.now())));
  const pages = await sessions.pages({ agentId: "agent", userId: "user", limit: 10 });
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.flat()).toEqual([slotText(living)]);
});

test("a session without a state is listed while its inbox holds an input, however old its entry", async () => {
  const sessions = lab.sessions();
  const [slot, other] = [slotOf("spoken to"), slotOf("interrupted")];
  const at = Date.now() - HOUR;
  const say = (where: typeof slot, kind: string) =>
    client.rpush(partKey(sessions.keyPrefix, where, "inbox"), `"e"\t${kind}\t{}`);
  await sessions.index.add(slot, at);
  await sessions.index.add(other, at);
  await say(slot, "input");
  await say(other, "interrupt");
  const listed = { slot, updatedAt: new Date(at).toISOString(), messages: 0 };
  for (const query of [{}, { agentId: "agent", userId: "user" }, { unfinished: true }])
    expect(await sessions.index.list(query)).toEqual({
      slots: [{ ...listed, info: { unfinished: true } }],
    });
  expect((await sessions.entries()).map((member) => JSON.parse(member)[2])).toEqual([
    "spoken to",
    "spoken to",
  ]);
  await client.del(partKey(sessions.keyPrefix, slot, "inbox"));
  expect(await sessions.index.list()).toEqual({ slots: [] });
  expect(await sessions.entries()).toEqual([]);
});

test("a page of few among many takes a bounded number of round trips, whatever its limit", async () => {
  const waves = { count: 0, open: 0 };
  const counting = <T>(run: () => Promise<T>): Promise<T> => {
    if (waves.open++ === 0) waves.count++;
    return run().finally(() => waves.open--);
  };
  const on: typeof connection = {
    ...{ run: (...args) => counting(() => connection.run(...args)) },
    ...{ send: (...args) => counting(() => connection.send(...args)) },
    ...{ subscribe: connection.subscribe.bind(connection), close: async () => undefined },
  };
  const sessions = lab.sessions({ on });
  const slots = Array.from({ length: 1_500 }, (_, at) => slotOf(`s${at}`));
  await Promise.all(slots.map((slot, at) => sessions.save(slot, at + 1)));
  const unfinished = [0, 700, 1_499].map((at) => slots[at] as (typeof slots)[number]);
  for (const slot of unfinished)
    await client.hset(partKey(sessions.keyPrefix, slot, "state"), "info", '{"unfinished":true}');
  for (const query of [{ agentId: "agent" }, { agentId: "agent", userId: "user" }])
    for (const limit of [1, 2, 10]) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        waves.count = 0;
        const page = await sessions.index.list({ ...query, unfinished: true, limit, cursor });
        expect(waves.count).toBeLessThan(50);
        found.push(...page.slots.map(({ slot }) => slotText(slot)));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found).toEqual(unfinished.toReversed().map(slotText));
    }
});

test("a forgotten session is in no index, and one made anew is back at once", async () => {
  const sessions = lab.sessions();
  const other = lab.sessions({ keyPrefix: sessions.keyPrefix });
  const slot = slotOf("s");
  await sessions.save(slot, Date.now());
  await other.index.forget(slot);
  expect(await sessions.entries()).toEqual([]);
  await sessions.index.touch(slot, Date.now(), true);
  expect(await sessions.entries()).toHaveLength(2);
  await sessions.index.forget(slot);
  await sessions.index.touch(slot, Date.now());
  expect(await sessions.entries()).toHaveLength(2);
});

test("a slot is written to the indexes at most once a minute per process", async () => {
  const sent: string[] = [];
  const sessions = lab.sessions({
    on: watchedConnection(connection, ({ name }) => void sent.push(name)),
  });
  const slot = slotOf("s");
  const now = Date.now();
  await sessions.index.touch(slot, now);
  expect(sent).toEqual(Array(3).fill("touch-index-entry"));
  for (let ms = 0; ms < 60_000; ms += 5_000) await sessions.index.touch(slot, now + ms);
  expect(sent).toHaveLength(3);
  await sessions.index.touch(slot, now + 60_000);
  expect(sent).toHaveLength(6);
  const key = userIndexKey(sessions.keyPrefix, "agent", "user");
  expect(await client.zrange(key, "0", "-1", "WITHSCORES")).toContain(`${now + 60_000}`);
});

test("with a ttl indexes that nobody lists do not only grow", async () => {
  const sessions = lab.sessions({ ttlMs: HOUR });
  const [gone, living] = [slotOf("gone"), slotOf("living")];
  await sessions.save(gone, Date.now() - 5 * HOUR);
  await sessions.save(living, Date.now() - 5 * HOUR);
  await sessions.expire(gone);
  for (let at = 0; at < 200; at++) await sessions.save(slotOf(`s${at}`), Date.now());
  const members = (await sessions.entries()).map((member) => JSON.parse(member)[2]);
  expect(members).not.toContain("gone");
  expect(members.filter((member) => member === "living")).toHaveLength(2);
});

test("with a ttl the indexes of users who do not return expire, and those in use do not", async () => {
  const sessions = lab.sessions({ ttlMs: HOUR });
  await sessions.save(slotOf("s"), Date.now());
  for (const key of await sessions.keys()) {
    expect(await client.pttl(key), key).toBeGreaterThan(HOUR);
    await client.pexpire(key, 60_000);
  }
  // As another process that loads it, or whose call on it runs.
  lab.sessions({ ttlMs: HOUR, keyPrefix: sessions.keyPrefix }).index.keep(slotOf("s"));
  for (const key of await sessions.keys())
    await eventually(async () => (await client.pttl(key)) > HOUR, { what: key });
});

test("an index of sessions that do not expire is kept, also by writers whose sessions do", async () => {
  const sessions = lab.sessions();
  await sessions.save(slotOf("for good"), Date.now());
  const expiring = lab.sessions({ ttlMs: HOUR, keyPrefix: sessions.keyPrefix });
  await expiring.save(slotOf("for an hour"), Date.now());
  const user = userIndexKey(sessions.keyPrefix, "agent", "user");
  expect(await client.pttl(user)).toBe(-1);
  const other = lab.sessions({ ttlMs: HOUR });
  await other.save(slotOf("for an hour"), Date.now());
  await lab.sessions({ keyPrefix: other.keyPrefix }).save(slotOf("for good"), Date.now());
  expect(await client.pttl(userIndexKey(other.keyPrefix, "agent", "user"))).toBe(-1);
});

test("with a ttl a session that expired leaves the indexes of its user when others of its agent are used", async () => {
  const sessions = lab.sessions({ ttlMs: HOUR });
  const gone = { agentId: "agent", userId: "does not return", sessionId: "gone" };
  const logs = logIndexKey(sessions.keyPrefix, "agent", "does not return");
  await sessions.save(gone, Date.now() - 5 * HOUR);
  await client.zadd(logs, Date.now() - 5 * HOUR, "gone");
  await sessions.expire(gone);
  for (let at = 0; at < 200; at++) await sessions.save(slotOf(`s${at}`), Date.now());
  expect(await client.exists(userIndexKey(sessions.keyPrefix, "agent", "does not return"))).toBe(0);
  expect(await client.exists(logs)).toBe(0);
});

test("the sessions of an agent are spread over 16 shards", async () => {
  const sessions = lab.sessions();
  for (let at = 0; at < 320; at++) await sessions.index.touch(slotOf(`s${at}`), at);
  const sizes = await Promise.all(
    Array.from({ length: 16 }, (_, shard) =>
      client.zcard(agentIndexKey(sessions.keyPrefix, "agent", shard)),
    ),
  );
  expect(Math.min(...sizes)).toBeGreaterThan(4);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(320);
});

test("two prefixes on one server do not see each other", async () => {
  const [one, other] = [lab.sessions(), lab.sessions()];
  await one.save(slotOf("s"), Date.now());
  expect(await other.index.list()).toEqual({ slots: [] });
});

test("what is no cursor is refused", async () => {
  const { index } = lab.sessions();
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const bad = [
    "",
    "x",
    "💥",
    encode(null),
    encode([]),
    encode(["1", "m"]),
    encode([1, 2]),
    encode([1, "m", 3]),
  ];
  for (const cursor of bad) {
    const error = await index.list({ cursor }).catch((e: unknown) => e);
    expect(InvalidInputError.is(error), cursor).toBe(true);
  }
});

test("a foreign entry in an index is passed over", async () => {
  const sessions = lab.sessions();
  await sessions.save(slotOf("s"), Date.now());
  const key = userIndexKey(sessions.keyPrefix, "agent", "user");
  for (const foreign of ["x", "7", "null", "[]", '["agent",7,"s"]', '["agent","other","s"]'])
    await client.zadd(key, Date.now() + 1_000, foreign);
  expect((await sessions.pages({ agentId: "agent", userId: "user" })).flat()).toEqual([
    slotText(slotOf("s")),
  ]);
});
