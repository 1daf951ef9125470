// Part of make-fixtures.mjs: contents of servers as JSON. `../restore-stores.ts` is the way back.
import { deflateSync } from "node:zlib";

/** Text as it is, other bytes as `{ base64 }`, and what is long as `{ deflated }`, in base64 too. */
function cell(bytes) {
  if (bytes === null) return null;
  if (bytes.length > 20_000) return { deflated: deflateSync(bytes).toString("base64") };
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) && !text.includes("\0")
    ? text
    : { base64: bytes.toString("base64") };
}

const readers = {
  string: (client, key) => client.getBuffer(key),
  hash: (client, key) => client.callBuffer("HGETALL", key),
  list: (client, key) => client.lrangeBuffer(key, 0, -1),
  set: (client, key) => client.smembersBuffer(key),
  zset: (client, key) => client.zrangeBuffer(key, 0, -1, "WITHSCORES"),
};

/**
 * Every key that does not expire, in order, as `{ key, type, contents }`: contents are what the one command that reads
 * the whole key returns. What expires, such as the lease of a process that was killed, is gone by the time of a restore.
 */
export async function dumpRedis(client) {
  const dump = [];
  for (const key of (await client.keys("held*")).sort()) {
    if ((await client.pttl(key)) >= 0) continue;
    const type = await client.type(key);
    const read = readers[type];
    if (read === undefined) throw new Error(`no reader for a ${type}`);
    const contents = await read(client, key);
    dump.push({ key, type, contents: [contents].flat().map(cell) });
  }
  return dump;
}

/** The statements that made the tables, and the rows of each, that of migrations included. */
export async function dumpMysql(pool, prefix, statements) {
  const [found] = await pool.query({
    sql: `SELECT table_name FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND LEFT(table_name, ?) = ? ORDER BY 1`,
    values: [prefix.length, prefix],
    rowsAsArray: true,
  });
  const tables = [];
  for (const [table] of found) {
    const [rows, columns] = await pool.query({
      sql: `SELECT * FROM ${table} ORDER BY 1, 2`,
      rowsAsArray: true,
      typeCast: (field) => field.buffer(),
    });
    tables.push({
      table,
      columns: columns.map(({ name }) => name),
      rows: rows.map((row) => row.map(cell)),
    });
  }
  return { prefix, statements, tables };
}
