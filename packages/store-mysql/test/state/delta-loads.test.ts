import { type Message, ReActAgent, StateCorruptError, userMessage } from "@holdfast/core";
import { isWhole, type LoadAnswer, loadWhole, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlAgentStateStore, MysqlDistributedStore } from "@holdfast/store-mysql";
import { scriptedModel } from "@holdfast/testing";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshPrefix, proxiedPool, testPool } from "../log/fresh-tables.js";
import { headOf, slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
const slot = slotNamed("s");
const k = slotHash(slot);
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

function messagesOf(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => userMessage(`m${index}`));
}

/** Saves a first state of so many messages. */
function begin(count: number, session = slot): Promise<string> {
  const write = { op: uuidv7(), expected: null, head: headOf(session), keep: 0, replace: [] };
  return store.save(session, { ...write, append: messagesOf(count) });
}

function kindOf(answer: LoadAnswer): string {
  if (answer === null || answer === "unchanged") return String(answer);
  return isWhole(answer) ? "whole" : "delta";
}

test("what another node reads after a turn does not depend on the length of the session", async () => {
  await using network = await proxiedPool();
  const { proxy } = network;
  const url = new URL(inject("mysqlUrl"));
  url.host = `${proxy.host}:${proxy.port}`;
  const single = createPool({ uri: url.href, connectionLimit: 1 });
  const other = MysqlDistributedStore.from(single, { tablePrefix: prefix });
  const rowsRead = async (): Promise<number> => {
    const [rows] = await single.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
    const counts = rows as { Value: string }[];
    return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  const costOf = async (count: number) => {
    const session = slotNamed(`with ${count}`);
    const known = await begin(count, session);
    await store.save(session, turnWrite(session, known, count));
    const load = async (): Promise<void> => {
      const lease = await other.gate.acquire(session, { callId: "c", known: () => known });
      expect(lease.loaded).toMatchObject({ from: known, keep: count, replace: [] });
      await lease.release();
    };
    // Statements are prepared once.
    await load();
    const [bytes, rows] = [proxy.bytesUp + proxy.bytesDown, await rowsRead()];
    await load();
    return { bytes: proxy.bytesUp + proxy.bytesDown - bytes, rows: (await rowsRead()) - rows };
  };
  const [short, long] = [await costOf(10), await costOf(5_000)];
  expect(long.rows).toBe(short.rows);
  expect(Math.abs(long.bytes - short.bytes)).toBeLessThan(128);
  await single.end();
});

test("a change that goes further back than the last messages is read exactly", async () => {
  const known = await begin(100);
  const [replaced, ...append] = messagesOf(31) as [Message, ...Message[]];
  const fields = { replace: [[3, replaced]] as const, append, log: [] };
  await store.save(slot, turnWrite(slot, known, 80, fields));
  const change = await store.load(slot, known);
  expect(change).toMatchObject({ from: known, keep: 80, replace: [[3, replaced]], append });
});

test("saves of a release without this ledger are noticed, and answered whole", async () => {
  const first = await begin(20);
  const second = await store.save(slot, turnWrite(slot, first, 20));
  const older = `3.${"c".repeat(32)}`;
  // As a node of the release before saves: it replaces a message and appends one.
  const body = Buffer.from(JSON.stringify(userMessage("of the release before")), "utf8");
  await pool.execute(
    `INSERT INTO ${prefix}messages (k, pos, body) VALUES (?, 2, ?), (?, 21, ?) ON DUPLICATE KEY UPDATE body = VALUES(body)`,
    [k, body, k, body],
  );
  await pool.execute(`UPDATE ${prefix}slots SET rev = ?, n = 22 WHERE k = ?`, [older, k]);
  for (const known of [first, second])
    expect(kindOf(await store.load(slot, known)), "after its save").toBe("whole");
  const third = await store.save(slot, turnWrite(slot, older, 22));
  for (const known of [first, second])
    expect(kindOf(await store.load(slot, known)), "after a save behind it").toBe("whole");
  const whole = await loadWhole(store, slot);
  expect(whole).toMatchObject({ revision: third });
  expect(await store.load(slot, older)).toMatchObject({
    ...{ from: older, keep: 22, replace: [] },
    append: whole?.messages.slice(22),
  });
});

test("a session that the release before deleted and began anew goes back to nothing before", async () => {
  const first = await begin(3);
  await store.save(slot, turnWrite(slot, first, 3));
  await pool.execute(
    `UPDATE ${prefix}slots SET rev = NULL, state_head = NULL, n = 0, ops = '' WHERE k = ?`,
    [k],
  );
  await pool.execute(`DELETE FROM ${prefix}messages WHERE k = ?`, [k]);
  const again = await begin(2);
  expect(kindOf(await store.load(slot, first))).toBe("whole");
  await store.save(slot, turnWrite(slot, again, 2));
  expect(kindOf(await store.load(slot, first))).toBe("whole");
  expect(kindOf(await store.load(slot, again))).toBe("delta");
});

test("more replaced messages than a ledger remembers, and more than one load reads, are answered whole", async () => {
  const known = await begin(200);
  const replacing = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => [from + index, userMessage("r")] as const);
  const fields = { append: [], log: [] };
  let last = known;
  for (const start of [0, 40])
    last = await store.save(
      slot,
      turnWrite(slot, last, 200, { ...fields, replace: replacing(start, 40) }),
    );
  expect(kindOf(await store.load(slot, known))).toBe("whole");
  const many = turnWrite(slot, last, 200, { ...fields, replace: replacing(0, 65) });
  const next = await store.save(slot, many);
  expect(kindOf(await store.load(slot, last))).toBe("whole");
  await store.save(slot, turnWrite(slot, next, 200));
  expect(kindOf(await store.load(slot, next))).toBe("delta");
});

test("a message that a change names and nobody stores is damage", async () => {
  const known = await begin(20);
  await store.save(slot, turnWrite(slot, known, 20));
  await pool.execute(`DELETE FROM ${prefix}messages WHERE k = ? AND pos = 20`, [k]);
  await expect(store.load(slot, known)).rejects.toSatisfy(StateCorruptError.is);
});

test("two nodes that take turns load what the other added, however long a run was", async () => {
  const stores = [1, 2].map(() => MysqlDistributedStore.from(pool, { tablePrefix: prefix }));
  const sources: string[] = [];
  const requests: number[] = [];
  const agents = stores.map((distributedStore) => {
    const model = scriptedModel(({ messages }) => {
      requests.push(messages.length);
      return "ok";
    });
    const onEvent = (event: { type: string; source?: unknown }): void => {
      if (event.type === "state_loaded") sources.push(String(event.source));
    };
    return new ReActAgent({ name: "a", model, distributedStore, onEvent });
  });
  for (let turn = 0; turn < 8; turn++)
    await agents[turn % 2]?.call(`turn ${turn}`, { sessionId: "s" });
  expect(sources).toEqual(["new", "store", ...Array(6).fill("delta")]);
  expect(requests, "each sees all that was said").toEqual([1, 3, 5, 7, 9, 11, 13, 15]);
  for (const each of stores) await each.close();
});
