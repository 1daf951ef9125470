import { userMessage } from "@holdfast/core";
import { applyWrite, isWhole, loadWhole, type StateWrite } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { withoutCompounds } from "../without-compounds.js";
import { slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
let prefix: string;
let store: MysqlDistributedStore;
/** A store that keeps its ledger in the slot's row, as earlier releases do. */
let earlier: MysqlDistributedStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  earlier = MysqlDistributedStore.from(withoutCompounds(pool), { tablePrefix: prefix });
});
afterEach(async () => {
  await Promise.all([store.close(), earlier.close()]);
  await dropTables(pool, prefix);
});

test("a slot's row keeps its length, and the ledger its number of rows, however many saves there are", async () => {
  const slot = slotNamed("s");
  const lengths = `SELECT LENGTH(ops), LENGTH(last_change), changes IS NULL, (SELECT COUNT(*) FROM ${prefix}ledger) FROM ${prefix}slots`;
  let revision: string | null = null;
  const seen: unknown[] = [];
  for (let turn = 0; turn < 72; turn++) {
    revision = await store.stateStore.save(slot, turnWrite(slot, revision, turn));
    if (turn % 24 === 23) seen.push((await rowsOf(pool, lengths))[0]);
  }
  expect(seen).toEqual([
    [0, 25, 1, 16 + 23],
    [0, 25, 1, 16 + 32],
    [0, 25, 1, 16 + 32],
  ]);
  await store.stateStore.delete(slot);
  expect(await rowsOf(pool, `SELECT * FROM ${prefix}ledger`)).toEqual([]);
});

test("saves of nodes of an earlier release are recognised after those of this one, and the other way round", async () => {
  const slot = slotNamed("s");
  const done: { write: StateWrite; revision: string }[] = [];
  for (const [turn, node] of [earlier, earlier, store, store, earlier, store, store].entries()) {
    const write = turnWrite(slot, done.at(-1)?.revision ?? null, turn);
    done.push({ write, revision: await node.stateStore.save(slot, write) });
  }
  for (const { write, revision } of done)
    for (const node of [store, earlier])
      expect(await node.stateStore.save(slot, write)).toBe(revision);
  expect((await loadWhole(store.stateStore, slot))?.messages).toHaveLength(done.length);
});

test("an op is recognised whatever revision it expects, and a change replaces the one in its place", async () => {
  const slot = slotNamed("s");
  const done: { write: StateWrite; revision: string }[] = [];
  for (let turn = 0; turn < 70; turn++) {
    const write = turnWrite(slot, done.at(-1)?.revision ?? null, turn);
    done.push({ write, revision: await store.stateStore.save(slot, write) });
  }
  const [last] = done.slice(-1);
  for (const { write, revision } of done.slice(-16)) {
    const again = turnWrite(slot, last?.revision ?? null, 70, { op: write.op });
    expect(await store.stateStore.save(slot, again)).toBe(revision);
  }
  const kinds = await Promise.all(
    [68, 38, 37, 36].map(async (turn) => {
      const answer = await store.stateStore.load(slot, done[turn]?.revision);
      if (answer === null || answer === "unchanged") return answer;
      return isWhole(answer) ? "whole" : answer.append.length;
    }),
  );
  expect(kinds).toEqual([1, 31, 32, "whole"]);
});

test("records of named calls leave the slot's row once there are as many rows as are kept", async () => {
  const slot = slotNamed("s");
  let revision: string | null = null;
  const recordIn = `SELECT calls IS NULL, (SELECT COUNT(*) FROM ${prefix}calls) FROM ${prefix}slots`;
  const seen: unknown[] = [];
  for (let turn = 0; turn < 6; turn++) {
    // The third node keeps them in the row, as an earlier release does.
    const { stateStore } = turn === 2 ? earlier : store;
    const callRecord = { record: { callId: `c${turn}`, turn }, keep: 3 };
    revision = await stateStore.save(slot, turnWrite(slot, revision, turn, { callRecord }));
    seen.push((await rowsOf(pool, recordIn))[0]);
  }
  expect(seen).toEqual([
    [0, 0],
    [0, 1],
    [0, 1],
    [0, 2],
    [1, 3],
    [1, 3],
  ]);
  const ids = (await loadWhole(store.stateStore, slot))?.callRecords?.map(({ callId }) => callId);
  expect(ids).toEqual(["c5", "c4", "c3"]);
  const again = { record: { callId: "c4", turn: 6 }, keep: 3 };
  await store.stateStore.save(slot, turnWrite(slot, revision, 6, { callRecord: again }));
  const records = (await loadWhole(store.stateStore, slot))?.callRecords;
  expect(records?.map(({ callId }) => callId)).toEqual(["c4", "c5", "c3"]);
});

test("a ring of ops that an earlier release has left goes once nobody can repeat them", async () => {
  const slot = slotNamed("s");
  let revision = await earlier.stateStore.save(slot, turnWrite(slot, null, 0));
  revision = await earlier.stateStore.save(slot, turnWrite(slot, revision, 1));
  const length = async () =>
    Number((await rowsOf(pool, `SELECT LENGTH(ops) FROM ${prefix}slots`))[0]?.[0]);
  revision = await store.stateStore.save(slot, turnWrite(slot, revision, 2));
  expect(await length()).toBe(40);
  await pool.query(`UPDATE ${prefix}slots SET updated_at = updated_at - INTERVAL 11 MINUTE`);
  await store.stateStore.save(slot, turnWrite(slot, revision, 3));
  expect(await length()).toBe(0);
});

/** One save: by which store, under which lease, and what it does to the messages. */
const step = fc.record({
  isEarlier: fc.boolean(),
  lease: fc.boolean(),
  cut: fc.nat(4),
  replaces: fc.array(fc.nat(40), { maxLength: 3 }),
  append: fc.integer({ min: 0, max: 6 }),
});

test("every load from a known revision equals the whole load, whichever release has saved", async () => {
  let sessions = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      const slot = slotNamed(`s${sessions++}`);
      let state = { revision: null as string | null, messages: [] as unknown[] };
      const known: { revision: string; messages: unknown[] }[] = [];
      for (const [index, { isEarlier, lease: leased, cut, replaces, append }] of steps.entries()) {
        const { stateStore, gate } = isEarlier ? earlier : store;
        const keep = Math.max(state.messages.length - cut, 0);
        const places = [...new Set(replaces)].filter((place) => place < keep);
        const lease = leased ? await gate.acquire(slot, { callId: "c" }) : undefined;
        const write = turnWrite(slot, state.revision, keep, {
          replace: places.map((place) => [place, userMessage(`replaced ${index}`)] as const),
          append: Array.from({ length: append }, (_, at) => userMessage(`${index}.${at}`)),
          log: [],
          ...(lease && { lease: lease.token, release: true }),
        });
        const revision = await stateStore.save(slot, write);
        await lease?.release();
        state = { revision, messages: [...applyWrite(state.messages as never, write)] };
        known.push({ revision, messages: state.messages });
      }
      const whole = await loadWhole(store.stateStore, slot);
      expect(whole?.messages).toEqual(state.messages);
      for (const from of known)
        for (const { stateStore } of [store, earlier]) {
          const answer = await stateStore.load(slot, from.revision);
          if (answer === "unchanged") expect(from.revision).toBe(state.revision);
          else if (answer === null || isWhole(answer))
            expect(answer?.messages).toEqual(state.messages);
          else expect(applyWrite(from.messages as never, answer)).toEqual(state.messages);
        }
    }),
    { numRuns: scaled(8, 200) },
  );
});
