import { randomUUID } from "node:crypto";
import type { AgentStateStore } from "@holdfast/core";
import { type DocumentClient, documentStore } from "@holdfast/core/store-kit";
import { type DatabaseSyncInstance as Database, DatabaseSync } from "@photostructure/sqlite";

/** Opens a database that several processes use at the same time. */
export function openDatabase(path: string): Database {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  return database;
}

/** Returns the four commands that `documentStore` needs, over one table. */
export function sqliteClient(database: Database): DocumentClient {
  database.exec(
    "CREATE TABLE IF NOT EXISTS documents (key TEXT PRIMARY KEY, value TEXT, version TEXT) WITHOUT ROWID",
  );
  // Prepared for each command: a database that only its statements refer to would be collected, and closed.
  const run = (sql: string, ...values: readonly string[]): boolean =>
    Number(database.prepare(sql).run(...values).changes) === 1;
  return {
    async get(key) {
      const row = database.prepare("SELECT value, version FROM documents WHERE key = ?").get(key);
      return row ?? null;
    },
    async compareAndSet(key, value, expected) {
      const version = randomUUID();
      if (expected === null)
        return run("INSERT OR IGNORE INTO documents VALUES (?, ?, ?)", key, value, version);
      const update = "UPDATE documents SET value = ?, version = ? WHERE key = ? AND version = ?";
      return run(update, value, version, key, expected);
    },
    async delete(key) {
      return run("DELETE FROM documents WHERE key = ?", key);
    },
    async list(after = "") {
      const page = "SELECT key FROM documents WHERE key > ? ORDER BY key LIMIT 1000";
      const rows: { key: string }[] = database.prepare(page).all(after);
      const keys = rows.map(({ key }) => key);
      return keys.length === 1_000 ? { keys, cursor: keys.at(-1) } : { keys };
    },
  };
}

/** Opens a store for all processes of a host; `close` does not close the database, which ends with the process. */
export function open(path: string): AgentStateStore {
  return documentStore(sqliteClient(openDatabase(path)), {
    ...{ kind: "sqlite", reach: "host" },
    ...{ nodeTimeoutMs: 2_000, pollMs: 20 },
  });
}
