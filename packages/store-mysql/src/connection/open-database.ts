import { tableNames } from "../keys.js";
import { ensureTables } from "../migrations/ensure-tables.js";
import type { ResolvedOptions } from "../options.js";
import { Connections } from "./connections.js";
import { Database } from "./database.js";

/**
 * Opens the database of a part; no I/O happens before its first command.
 *
 * @param onUse - called with every command
 */
export function openDatabase(
  options: Pick<ResolvedOptions, "pool" | "tablePrefix" | "migrate" | "commandTimeoutMs"> &
    Partial<Pick<ResolvedOptions, "ttlMs">>,
  onUse?: () => void,
): Database {
  const { pool, commandTimeoutMs, migrate, tablePrefix, ttlMs } = options;
  const connections = new Connections(pool, commandTimeoutMs);
  const tables = tableNames(tablePrefix);
  return new Database({
    connections,
    tables,
    commandTimeoutMs,
    ttlMs,
    prepare() {
      onUse?.();
      return ensureTables(pool, connections, tables, migrate);
    },
  });
}
