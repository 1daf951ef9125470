import { createHash } from "node:crypto";
import type { Pool, RowDataPacket } from "mysql2/promise";
import type { Contender } from "../measure/contender.js";
import { FLOOR_WINDOW } from "../stores/store-side.js";
import { floorHistory, floorTurn, parseAll } from "./floor-messages.js";

interface MessageRow extends RowDataPacket {
  readonly pos: number;
  readonly body: Buffer;
}

/** Floor on MySQL: SELECT of the last messages, then one INSERT of two rows. */
export async function mysqlFloor(pool: Pool, prefix: string): Promise<Contender> {
  const table = `${prefix}floor`;
  await pool.query(
    `CREATE TABLE IF NOT EXISTS ${table} (k BINARY(32), pos INT UNSIGNED, body MEDIUMBLOB, PRIMARY KEY (k, pos))`,
  );
  const select = `SELECT pos, body FROM ${table} WHERE k = ? ORDER BY pos DESC LIMIT ${FLOOR_WINDOW}`;
  return {
    store: "mysql",
    name: "floor",
    async seed(sessionId, messages) {
      const rows = floorHistory(messages).map((body, pos) => [keyOf(sessionId), pos, body]);
      await pool.query(`INSERT INTO ${table} VALUES ?`, [rows]);
    },
    async turn(sessionId) {
      const key = keyOf(sessionId);
      const [rows] = await pool.execute<MessageRow[]>(select, [key]);
      parseAll(rows.map(({ body }) => body.toString()));
      const next = (rows[0]?.pos ?? -1) + 1;
      const [question, answer] = floorTurn();
      const values = [key, next, question, key, next + 1, answer];
      await pool.execute(`INSERT INTO ${table} VALUES (?, ?, ?), (?, ?, ?)`, values);
    },
  };
}

function keyOf(sessionId: string): Buffer {
  return createHash("sha256").update(sessionId).digest();
}
