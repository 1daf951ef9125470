import { inspect } from "node:util";
import {
  ConfigurationError,
  HoldfastError,
  StateTooLargeError,
  StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { createPool as createCallbackPool } from "mysql2";
import { createConnection, createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { asBytes, asNumber, asText } from "../../src/connection/cells.js";
import type { Database, Transaction } from "../../src/connection/database.js";
import type { MysqlPool } from "../../src/connection/mysql-pool.js";
import { openDatabase } from "../../src/connection/open-database.js";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";

const pool = testPool();
let prefix: string;
let numbers: string;

beforeEach(async () => {
  prefix = freshPrefix();
  numbers = `\`${prefix}numbers\``;
  await pool.query(
    `CREATE TABLE ${numbers} (id INT PRIMARY KEY, v INT NOT NULL, big BIGINT NULL, at DATETIME(6) NULL, body MEDIUMBLOB NULL) ENGINE=InnoDB`,
  );
  await pool.query(`INSERT INTO ${numbers} (id, v) VALUES (1, 0), (2, 0)`);
});
afterEach(() => dropTables(pool, prefix));

function open(on: MysqlPool = pool, commandTimeoutMs = 5_000): Database {
  return openDatabase({ pool: on, tablePrefix: prefix, migrate: true, commandTimeoutMs });
}

const add = (tx: Transaction, id: number) =>
  tx.write(`UPDATE ${numbers} SET v = v + 1 WHERE id = ?`, [id]);

async function storedIn(id: number): Promise<unknown> {
  return (await rowsOf(pool, `SELECT v FROM ${numbers} WHERE id = ?`, [id]))[0]?.[0];
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable("it should fail"),
    (error: unknown) => error,
  );
}

test.each(["promises", "callbacks"])("it works on a pool with %s", async (kind) => {
  const uri = inject("mysqlUrl");
  const promises = createPool({ uri });
  const callbacks = createCallbackPool({ uri });
  const database = open(kind === "promises" ? promises : callbacks);
  expect(await database.read("reading", "SELECT 1 + ?", [2])).toHaveLength(1);
  await promises.end();
  await callbacks.promise().end();
});

test("what is not a pool is refused", () => {
  const notPools: unknown[] = [{ getConnection: () => undefined }];
  for (const notPool of notPools)
    expect(() => open(notPool as MysqlPool)).toThrow(ConfigurationError);
});

const casts = [["a function", () => "bent"] as const, ["none", false] as const];
test.each(casts)(
  "no option of the caller's pool bends what is read and written, its typeCast: %s",
  async (_, typeCast) => {
    const bent = createPool({
      uri: inject("mysqlUrl"),
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
      decimalNumbers: true,
      namedPlaceholders: true,
      nestTables: true,
      typeCast,
      stringifyObjects: true,
      charset: "latin1",
      flags: ["-FOUND_ROWS"],
    });
    const database = open(bent);
    const body = Buffer.from([0, 255, 128, 10, 39, 92, 195, 164]);
    const result = await database.write(
      "writing",
      `UPDATE ${numbers} SET big = LAST_INSERT_ID(?), body = ?, at = '2026-01-02 03:04:05.678901' WHERE id = 1`,
      [2 ** 40, body],
    );
    expect(result).toEqual({ affectedRows: 1, insertId: 2 ** 40 });
    const [row = []] = await database.read(
      "reading",
      `SELECT big, body, DATE_FORMAT(at, '%Y-%m-%d %H:%i:%s.%f'), v IS NULL, COUNT(*) FROM ${numbers} WHERE id = ? GROUP BY id`,
      [1],
    );
    expect(asNumber(row[0])).toBe(2 ** 40);
    expect(asBytes(row[1])).toEqual(body);
    expect(asText(row[2])).toBe("2026-01-02 03:04:05.678901");
    expect([asNumber(row[3]), asNumber(row[4])]).toEqual([0, 1]);
    await bent.end();
  },
);

test("transactions that stop each other are run again, and all are done once", async () => {
  const database = open();
  // Each pair takes the two rows in opposite order, and lets the other take its first one before it goes on.
  for (let round = 0; round < 5; round++) {
    let arrived = 0;
    const both = async (first: number, second: number): Promise<void> => {
      let isFirstRun = true;
      await database.transaction("adding", async (tx) => {
        await add(tx, first);
        arrived++;
        if (isFirstRun) await eventually(() => arrived >= 2);
        isFirstRun = false;
        await add(tx, second);
      });
    };
    await Promise.all([both(1, 2), both(2, 1)]);
    expect(arrived, "one of them ran twice").toBe(3);
  }
  expect([await storedIn(1), await storedIn(2)]).toEqual([10, 10]);
});

test("a command that waits too long for a row tries again until the time is up, and has written nothing", async () => {
  const database = open(pool, 2_500);
  await database.read("reading", "SELECT 1");
  // Not one of the pool's, whose idle transactions the server ends.
  const holder = await createConnection(inject("mysqlUrl"));
  await holder.query("START TRANSACTION");
  await holder.query(`UPDATE ${numbers} SET v = 100 WHERE id = 2`);
  let runs = 0;
  const failure = await failureOf(
    database.transaction("adding", async (tx) => {
      runs++;
      await add(tx, 1);
      await add(tx, 2);
    }),
  );
  expect(StoreUnavailableError.is(failure), inspect(failure)).toBe(true);
  expect(runs).toBeGreaterThan(1);
  await holder.end();
  expect([await storedIn(1), await storedIn(2)]).toEqual([0, 0]);
  await database.transaction("adding", (tx) => add(tx, 2));
  expect(await storedIn(2)).toBe(1);
});

test("a body that throws leaves nothing behind, and the connection is good for the next", async () => {
  const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
  const database = open(single);
  const reason = new StateTooLargeError("mine");
  const failure = await failureOf(
    database.transaction("adding", async (tx) => {
      await add(tx, 1);
      throw reason;
    }),
  );
  expect(failure).toBe(reason);
  expect(await storedIn(1)).toBe(0);
  await database.transaction("adding", (tx) => add(tx, 1));
  expect(await storedIn(1)).toBe(1);
  await single.end();
});

test("a COMMIT whose answer is lost has an unknown outcome, and was done once", async () => {
  await using network = await proxiedPool();
  const database = open(network.pool);
  await database.read("reading", "SELECT 1");
  network.proxy.losesReply = (request) => request.includes("COMMIT");
  const failure = await failureOf(database.transaction("adding", (tx) => add(tx, 1)));
  expect(UnknownOutcomeError.is(failure), inspect(failure)).toBe(true);
  await eventually(async () => (await storedIn(1)) === 1);
});

test("a write of its own whose answer is lost has an unknown outcome", async () => {
  await using network = await proxiedPool();
  const database = open(network.pool);
  const sql = `UPDATE ${numbers} SET v = v + 1, body = ? WHERE id = 1`;
  await database.write("adding", sql, [Buffer.from("once")]);
  network.proxy.losesReply = (request) => request.includes("marker");
  const failure = await failureOf(database.write("adding", sql, [Buffer.from("marker")]));
  expect(UnknownOutcomeError.is(failure), inspect(failure)).toBe(true);
  await eventually(async () => (await storedIn(1)) === 2);
});

test("a transaction that loses its connection before its COMMIT is run again, once", async () => {
  await using network = await proxiedPool();
  const database = open(network.pool);
  await database.read("reading", "SELECT 1");
  let runs = 0;
  await database.transaction("adding", async (tx) => {
    await add(tx, 1);
    if (++runs === 1) network.proxy.reset();
    await add(tx, 2);
  });
  expect([runs, await storedIn(1), await storedIn(2)]).toEqual([2, 1, 1]);
  const failure = await failureOf(
    database.transaction("adding", async (tx) => {
      network.proxy.reset();
      await add(tx, 2);
    }),
  );
  expect(StoreUnavailableError.is(failure), inspect(failure)).toBe(true);
  expect(await storedIn(2)).toBe(1);
});

test("what waits in vain for a connection ends in time, and the connection is not lost to the pool", async () => {
  const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
  const patient = open(single);
  await patient.read("reading", "SELECT 1");
  const busy = await single.getConnection();
  const failure = await failureOf(open(single, 200).read("reading", "SELECT 1"));
  expect(StoreUnavailableError.is(failure), inspect(failure)).toBe(true);
  busy.release();
  expect(await patient.read("reading", "SELECT 1")).toHaveLength(1);
  await single.end();
});

test("what takes too long ends in time, and its connection is not used again", async () => {
  const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
  const database = open(single, 1_200);
  await open(single).read("reading", "SELECT 1");
  const failures = [
    await failureOf(database.read("reading", "SELECT SLEEP(20)")),
    await failureOf(database.transaction("sleeping", (tx) => tx.read("SELECT SLEEP(20)"))),
  ];
  for (const failure of failures) expect(StoreUnavailableError.is(failure)).toBe(true);
  const written = database.write(
    "adding",
    `UPDATE ${numbers} SET v = v + 1 + SLEEP(20) WHERE id = 1`,
  );
  expect(UnknownOutcomeError.is(await failureOf(written))).toBe(true);
  expect(await open(single).read("reading", "SELECT 1")).toHaveLength(1);
  await single.end();
});

test("errors show neither statement nor values, address, user or password", async () => {
  const url = new URL(inject("mysqlUrl"));
  const refused = createPool({
    host: url.hostname,
    port: Number(url.port),
    user: "canary_user",
    password: "canary_password",
    database: "canary_database",
  });
  const failures = [
    await failureOf(open(refused).read("reading", "SELECT 'canary_sql'")),
    await failureOf(open().read("reading", "SELECT canary_sql FROM canary_table", [])),
    await failureOf(
      open().write("writing", `INSERT INTO ${numbers} (id, v) VALUES (?, ?)`, [
        "canary_value",
        "canary_value",
      ]),
    ),
    await failureOf(open().transaction("writing", (tx) => tx.write("canary_sql"))),
  ];
  for (const failure of failures) {
    expect(StoreError.is(failure), inspect(failure)).toBe(true);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(
      new RegExp(`canary|${url.port}|127\\.0\\.0\\.1`),
    );
  }
  expect(String(failures[0])).toMatch(/password and the rights|check the name, the password/);
  await refused.end();
});

test("a server that cannot be reached is unavailable, also for writes", async () => {
  const nobody = createPool({ host: "127.0.0.1", port: 1, user: "root" });
  const database = open(nobody, 1_000);
  for (const work of [
    database.read("reading", "SELECT 1"),
    database.write("writing", "SELECT 1"),
    database.transaction("writing", (tx) => tx.read("SELECT 1")),
  ]) {
    const failure = await failureOf(work);
    expect(StoreUnavailableError.is(failure), inspect(failure)).toBe(true);
    expect(HoldfastError.is(failure)).toBe(true);
  }
  await nobody.end();
});
