import type { Pool } from "mysql2/promise";
import { sampleHead, sampleTurn } from "../stores/sample-turn.js";

/** The least a save of a turn can be on MySQL: SELECT the revision, then UPDATE and INSERT in one transaction. */
export async function mysqlSave(pool: Pool, table: string): Promise<() => Promise<void>> {
  const slot = { agentId: "bench", userId: "user", sessionId: "floor" };
  await pool.query(
    `CREATE TABLE ${table}h (k BINARY(32) PRIMARY KEY, rev BIGINT, head MEDIUMBLOB)`,
  );
  await pool.query(
    `CREATE TABLE ${table}m (k BINARY(32), pos INT, body MEDIUMBLOB, PRIMARY KEY (k, pos))`,
  );
  const key = Buffer.alloc(32, 1);
  await pool.execute(`INSERT INTO ${table}h VALUES (?, 0, '')`, [key]);
  let revision = 0;
  let messages = 0;
  return async () => {
    const connection = await pool.getConnection();
    try {
      await connection.execute(`SELECT rev FROM ${table}h WHERE k = ?`, [key]);
      const [question, answer] = sampleTurn().map((message) => JSON.stringify(message));
      await connection.query("START TRANSACTION");
      await connection.execute(`UPDATE ${table}h SET rev = ?, head = ? WHERE k = ? AND rev = ?`, [
        revision + 1,
        JSON.stringify(sampleHead(slot)),
        key,
        revision,
      ]);
      await connection.execute(`INSERT INTO ${table}m VALUES (?, ?, ?), (?, ?, ?)`, [
        key,
        messages,
        question as string,
        key,
        messages + 1,
        answer as string,
      ]);
      await connection.query("COMMIT");
      revision++;
      messages += 2;
    } finally {
      connection.release();
    }
  };
}
