import { UnknownOutcomeError } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { MysqlDistributedStore, migrate } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { withoutCompounds } from "../without-compounds.js";
import { slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
const slot = slotNamed("s");
let prefix: string;

beforeEach(() => {
  prefix = freshPrefix();
});
afterEach(() => dropTables(pool, prefix));

test("a server without compound statements is asked once, and saves with a transaction", async () => {
  const statements: string[] = [];
  const store = MysqlDistributedStore.from(withoutCompounds(pool, statements), {
    tablePrefix: prefix,
  });
  let revision: string | null = null;
  for (let turn = 0; turn < 3; turn++) {
    const lease = await store.gate.acquire(slot, { callId: "c" });
    statements.length = turn === 0 ? statements.length : 0;
    const write = turnWrite(slot, revision, turn, { lease: lease.token, release: true });
    revision = await store.stateStore.save(slot, write);
    await lease.release();
  }
  const words = statements.map((sql) => sql.split(" ", 2).join(" "));
  expect(words.filter((word) => !word.startsWith("SET"))).toEqual([
    "START TRANSACTION",
    `UPDATE \`${prefix}slots\``,
    "INSERT INTO",
    "INSERT INTO",
    "COMMIT",
  ]);
  expect((await loadWhole(store.stateStore, slot))?.messages).toHaveLength(3);
  expect((await store.log.read(slot)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await store.close();
});

test("a COMMIT whose answer is lost can be repeated there", async () => {
  await migrate(pool, { tablePrefix: prefix });
  await using network = await proxiedPool();
  const far = withoutCompounds(network.pool);
  const store = MysqlDistributedStore.from(far, { tablePrefix: prefix, commandTimeoutMs: 2_000 });
  const first = await store.stateStore.save(slot, turnWrite(slot, null, 0));
  network.proxy.losesReply = (request) => request.includes("COMMIT");
  const write = turnWrite(slot, first, 1);
  await expect(store.stateStore.save(slot, write)).rejects.toSatisfy(UnknownOutcomeError.is);
  network.proxy.losesReply = undefined;
  const revision = await store.stateStore.save(slot, write);
  expect(await loadWhole(store.stateStore, slot)).toMatchObject({ revision });
  expect(await store.log.read(slot)).toHaveLength(2);
  await store.close();
});

test("a statement that is killed has left no transaction open, and the save is made", async () => {
  const store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  const first = await store.stateStore.save(slot, turnWrite(slot, null, 0));
  const holder = await pool.getConnection();
  await holder.query("START TRANSACTION");
  await holder.query(`SELECT k FROM ${prefix}slots FOR UPDATE`);
  const saving = store.stateStore.save(slot, turnWrite(slot, first, 1));
  const running = `SELECT id FROM information_schema.processlist WHERE info LIKE '%UPDATE%${prefix}slots%' AND info NOT LIKE '%processlist%'`;
  for (;;) {
    const [found] = await rowsOf(pool, running);
    if (found === undefined) continue;
    await pool.query(`KILL QUERY ${Number(found[0])}`);
    break;
  }
  await holder.query("ROLLBACK");
  holder.release();
  const revision = await saving;
  expect(await loadWhole(store.stateStore, slot)).toMatchObject({ revision });
  expect(await store.log.read(slot)).toHaveLength(2);
  await rowsOf(pool, `SELECT k FROM ${prefix}slots FOR UPDATE NOWAIT`);
  await store.close();
});
