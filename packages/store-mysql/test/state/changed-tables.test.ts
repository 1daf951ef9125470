import { StateCorruptError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
const slot = slotNamed("s");
let tablePrefix = "";
let store: MysqlDistributedStore;

beforeEach(async () => {
  tablePrefix = freshPrefix();
  // Its first command makes the tables, which takes longer than usual on a busy machine.
  store = MysqlDistributedStore.from(pool, { tablePrefix, commandTimeoutMs: 30_000 });
  await store.stateStore.save(slot, turnWrite(slot, null, 0));
});

afterEach(async () => {
  await store.close();
  await dropTables(pool, tablePrefix);
});

/** A column that holds something else since the tables were changed behind the store's back. */
const changes: Record<string, readonly [table: string, type: string, value: string]> = {
  "messages.body": ["messages", "MEDIUMBLOB NULL", "NULL, record_seq = NULL"],
  "messages.pos": ["messages", "VARCHAR(20) NOT NULL", "'first'"],
  "slots.state_head": ["slots", "MEDIUMBLOB NULL", "NULL"],
  "slots.n": ["slots", "INT NULL", "NULL"],
  "slots.rev": ["slots", "BIGINT NULL", "7"],
  "slots.agent_id": ["slots", "BIGINT NULL", "NULL"],
  "slots.calls": ["slots", "DOUBLE NULL", "1.5"],
  "slots.info": ["slots", "BIGINT NULL", "3"],
};

test.each(Object.entries(changes))(
  "a state whose %s is of another type or NULL is damaged, and says so",
  async (name, [table, type, value]) => {
    const column = name.split(".")[1];
    const change = `ALTER TABLE ${tablePrefix}${table} ${table === "messages" && column === "pos" ? "DROP PRIMARY KEY, " : ""}`;
    await pool.query(
      `${change} CHANGE ${column} ${column}_old ${oldType(name)}, ADD COLUMN ${column} ${type}`,
    );
    await pool.query(`UPDATE ${tablePrefix}${table} SET ${column} = ${value}`);
    const error: unknown = await store.stateStore.load(slot).catch((reason: unknown) => reason);
    expect(error).toSatisfy(StateCorruptError.is);
    expect((error as Error).message).toMatch(/^the stored state of session "s"/);
  },
);

function oldType(name: string): string {
  const types: Record<string, string> = {
    "messages.pos": "INT UNSIGNED NULL",
    "slots.n": "INT UNSIGNED NULL",
    "slots.rev": "VARBINARY(64) NULL",
    "slots.agent_id": "VARBINARY(765) NULL",
  };
  return types[name] ?? "MEDIUMBLOB NULL";
}

test("a log record whose text is NULL is damaged, and a search finds the others", async () => {
  const message = turnWrite(slot, null, 0).log?.[0];
  if (message !== undefined) await store.log.append(slot, [message]);
  await pool.query(`ALTER TABLE ${tablePrefix}log MODIFY body MEDIUMBLOB NULL`);
  await pool.query(`UPDATE ${tablePrefix}log SET body = NULL WHERE record_seq = 1`);
  const error: unknown = await store.log.read(slot).catch((reason: unknown) => reason);
  expect(error).toSatisfy(StateCorruptError.is);
  expect((error as Error).message).toContain('a log record of session "s"');
  const query = { agentId: "agent", userId: "user", text: "message" };
  expect((await store.log.search(query)).hits).toHaveLength(1);
});

test("a statement answered with another's reply fails by its kind, and is taken for no result", async () => {
  const lying = answeringWith({ rows: { affectedRows: 1, insertId: 0 }, written: [[1]] });
  const other = MysqlDistributedStore.from(lying as never, { tablePrefix, migrate: true });
  await expect(other.stateStore.load(slot)).rejects.toSatisfy(StoreUnavailableError.is);
  await expect(other.stateStore.inbox.put(slot, entry())).rejects.toSatisfy(
    (error) => UnknownOutcomeError.is(error) || StoreUnavailableError.is(error),
  );
  await other.close();
});

function entry() {
  return { id: "e", kind: "input", callId: "c", at: new Date().toISOString(), body: {} } as const;
}

/** The pool, through something that swaps the replies to queries and to writes. */
function answeringWith(replies: { rows: unknown; written: unknown }): object {
  type Done = (error: unknown, result: unknown) => void;
  const under = pool.pool;
  return Object.assign(Object.create(under), {
    getConnection(done: (error: unknown, connection: unknown) => void) {
      under.getConnection((error, connection) => {
        if (error) return done(error, undefined);
        const swap =
          (how: "execute" | "query") =>
          (statement: { sql: string }, ended: Done): void => {
            connection[how](
              statement as never,
              ((failed: unknown, result: unknown) => {
                const isQuery = /^\s*SELECT/.test(statement.sql);
                ended(
                  failed,
                  isQuery ? replies.rows : how === "execute" ? replies.written : result,
                );
              }) as never,
            );
          };
        const through = { execute: swap("execute"), query: swap("query") };
        const ends = { release: () => connection.release(), destroy: () => connection.destroy() };
        done(null, { ...through, ...ends });
      });
    },
  });
}
