import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";
import { watchedPool } from "../watched-pool.js";

const pool = testPool();
const slot = slotNamed("hot");
let prefix: string;

beforeEach(() => {
  prefix = freshPrefix();
});
afterEach(() => dropTables(pool, prefix));

/** Names a statement by what it is for. */
function kindOf(sql: string): string {
  if (!sql.startsWith("BEGIN NOT ATOMIC")) return sql.split(" ", 1)[0] ?? "";
  if (sql.includes("waiting = waiting + 1")) return "join";
  return sql.includes("SELECT v_report") ? "take" : "save";
}

test("calls of a process hand a session over with a statement to queue, one to take it and one to save", async () => {
  const statements: string[] = [];
  const watched = watchedPool(pool, (sql) => {
    statements.push(kindOf(sql));
    return undefined;
  });
  const store = MysqlDistributedStore.from(watched, { tablePrefix: prefix });
  let revision = await store.stateStore.save(slot, turnWrite(slot, null, 0));
  statements.length = 0;
  const [calls, order] = [8, [] as number[]];
  const turn = async (index: number): Promise<void> => {
    const lease = await store.gate.acquire(slot, { callId: `c${index}`, known: () => revision });
    order.push(index);
    const write = turnWrite(slot, revision, order.length, { lease: lease.token, release: true });
    revision = await store.stateStore.save(slot, write);
    await lease.release();
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => turn(index)));
  expect(order).toEqual([...order.keys()]);
  const count = (kind: string) => statements.filter((each) => each === kind).length;
  expect([count("join"), count("take"), count("save")]).toEqual([calls - 1, calls, calls]);
  expect(count("START"), "transactions of several statements").toBe(0);
  await store.close();
});
