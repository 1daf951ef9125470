import {
  ConfigurationError,
  InvalidInputError,
  StateConflictError,
  StateCorruptError,
  StateTooLargeError,
  textOf,
  userMessage,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { MysqlAgentStateStore, MysqlDistributedStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { headOf, slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
let prefix: string;
let store: MysqlAgentStateStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
});
afterEach(async () => {
  await store.close();
  await dropTables(pool, prefix);
});

async function rowCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ["slots", "messages", "log", "waiters"])
    counts[table] = Number((await rowsOf(pool, `SELECT COUNT(*) FROM ${prefix}${table}`))[0]?.[0]);
  return counts;
}

test("ids that collations take for equal are different sessions", async () => {
  const names = [
    "alice",
    "Alice",
    "ALICE",
    "alice ",
    "Älice",
    "älice",
    "a\u0308lice",
    "ali\u200bce",
    "0",
    "00",
    "1",
    "true",
  ];
  const slots = names.flatMap((name) => [
    slotNamed(name),
    slotNamed("s", name),
    { ...slotNamed("s"), agentId: name },
  ]);
  for (const slot of slots)
    await store.save(
      slot,
      turnWrite(slot, null, 0, { append: [userMessage(JSON.stringify(slot))] }),
    );
  for (const slot of slots) {
    const loaded = await loadWhole(store, slot);
    expect(loaded?.messages.map(textOf)).toEqual([JSON.stringify(slot)]);
    const listed = await store.list({ agentId: slot.agentId, userId: slot.userId });
    expect(listed.slots.map((info) => info.slot)).toContainEqual(slot);
    for (const info of listed.slots)
      expect([info.slot.agentId, info.slot.userId]).toEqual([slot.agentId, slot.userId]);
  }
});

test.each([1, 32])("32 savers at once on %i new sessions all get through", async (sessions) => {
  const messages = await Promise.all(
    Array.from({ length: 32 }, async (_, index) => {
      const slot = slotNamed(`s${index % sessions}`);
      for (;;) {
        const loaded = await loadWhole(store, slot);
        const write = turnWrite(slot, loaded?.revision ?? null, loaded?.messages.length ?? 0);
        try {
          await store.save(slot, write);
          return write.append[0]?.id;
        } catch (error) {
          if (!StateConflictError.is(error)) throw error;
        }
      }
    }),
  );
  const stored: (string | undefined)[] = [];
  for (let index = 0; index < sessions; index++) {
    const loaded = await loadWhole(store, slotNamed(`s${index}`));
    stored.push(...(loaded?.messages ?? []).map(({ id }) => id));
  }
  expect(stored.sort()).toEqual(messages.sort());
});

test("savers that shorten, lengthen and delete neighbouring sessions do not stop each other", async () => {
  await Promise.all(
    Array.from({ length: 16 }, async (_, index) => {
      const slot = slotNamed(`s${index}`);
      for (let round = 0; round < 4; round++) {
        const append = Array.from({ length: 70 }, () => userMessage("x"));
        const first = await store.save(slot, turnWrite(slot, null, 0, { append }));
        const kept = userMessage("kept");
        await store.save(slot, turnWrite(slot, first, 2, { replace: [[1, kept]], append: [] }));
        expect((await loadWhole(store, slot))?.messages).toEqual([append[0], kept]);
        expect(await store.delete(slot)).toBe(true);
      }
    }),
  );
  expect((await rowCounts())["messages"]).toBe(0);
});

test("damage of every kind is told, never taken for less or for nothing", async () => {
  const slot = slotNamed("s");
  const k = slotHash(slot);
  const damages = [
    `UPDATE ${prefix}slots SET state_head = 'x' WHERE k = ?`,
    `UPDATE ${prefix}slots SET state_head = NULL WHERE k = ?`,
    `UPDATE ${prefix}slots SET state_head = '[]' WHERE k = ?`,
    `UPDATE ${prefix}slots SET n = n + 1 WHERE k = ?`,
    `UPDATE ${prefix}slots SET n = n - 1 WHERE k = ?`,
    `UPDATE ${prefix}slots SET session_id = 'other' WHERE k = ?`,
    `UPDATE ${prefix}slots SET user_id = NULL WHERE k = ?`,
    `UPDATE ${prefix}messages SET pos = 9 WHERE k = ? AND pos = 1`,
    `UPDATE ${prefix}messages SET body = LEFT(body, 10) WHERE k = ? AND pos = 1`,
    `DELETE FROM ${prefix}slots WHERE k = ?`,
  ];
  for (const damage of damages) {
    await store.delete(slot);
    await pool.execute(`DELETE FROM ${prefix}messages`).catch(() => undefined);
    const append = [1, 2, 3].map((number) => userMessage(`canary ${number}`));
    await store.save(slot, turnWrite(slot, null, 0, { append, log: [] }));
    await pool.execute(damage, [k]);
    const failure = await store.load(slot).catch((error: unknown) => error);
    expect(StateCorruptError.is(failure), damage).toBe(true);
    expect(String(failure)).not.toContain("canary");
  }
});

test("nothing is left of a session whose state and log were deleted under its lease", async () => {
  const slot = slotNamed("s");
  const { gate, log } = store.companions();
  const first = await gate.acquire(slot, { callId: "c" });
  await store.save(slot, turnWrite(slot, null, 0, { lease: first.token, release: true }));
  expect(await rowCounts()).toEqual({ slots: 1, messages: 1, log: 1, waiters: 0 });
  const lease = await gate.acquire(slot, { callId: "d" });
  expect(await store.delete(slot)).toBe(true);
  expect(await log.delete(slot)).toBe(true);
  await lease.release();
  expect(await rowCounts()).toEqual({ slots: 0, messages: 0, log: 0, waiters: 0 });
});

test("a deleted state leaves the log, and its numbers go on", async () => {
  const slot = slotNamed("s");
  const { log } = store.companions();
  await store.save(slot, turnWrite(slot, null, 0));
  await store.delete(slot);
  await store.save(slot, turnWrite(slot, null, 0));
  expect((await log.read(slot)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a message or head too large for the server is refused, and the session is as it was", async () => {
  await using network = await proxiedPool();
  const far = new MysqlAgentStateStore({ pool: network.pool, tablePrefix: prefix });
  const slot = slotNamed("s");
  const revision = await far.save(slot, turnWrite(slot, null, 0));
  const huge = "x".repeat(17_000_000);
  const before = network.proxy.bytesUp;
  for (const fields of [
    { append: [userMessage(huge)], log: [] },
    { append: [], head: { ...headOf(slot), huge }, log: [] },
  ])
    await expect(far.save(slot, turnWrite(slot, revision, 1, fields))).rejects.toSatisfy(
      StateTooLargeError.is,
    );
  expect(network.proxy.bytesUp - before).toBeLessThan(100_000);
  expect(await far.load(slot, revision)).toBe("unchanged");
});

test("a save that releases without naming a lease, or without an op, is refused", async () => {
  const slot = slotNamed("s");
  for (const fields of [{ release: true }, { op: "" }, { revision: "mine" }])
    await expect(store.save(slot, turnWrite(slot, null, 0, fields))).rejects.toSatisfy(
      InvalidInputError.is,
    );
  expect(await store.load(slot)).toBe(null);
});

test("the parts are the same objects each time, and the store's own", () => {
  const parts = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  const again = parts.stateStore.companions();
  expect(again.gate).toBe(parts.gate);
  expect(again.log).toBe(parts.log);
  expect(again.keyValue).toBe(parts.keyValue);
  expect(again.signals).toBe(parts.signals);
  expect(again.stateStore).toBe(parts.stateStore);
  expect(parts.stateStore.fuses).toEqual({ gate: parts.gate, log: parts.log });
});

test("wrong options are named", () => {
  const wrong: object[] = [
    { leaseMs: 1 },
    { commandTimeoutMs: 0 },
    { tablePrefix: 1 },
    { extra: 1 },
  ];
  for (const options of wrong)
    expect(() => MysqlDistributedStore.from(pool, options)).toThrow(ConfigurationError);
  expect(() => MysqlDistributedStore.from({} as never)).toThrow(/mysql2/);
});
