import type { Pool } from "mysql2/promise";
import { watchedPool } from "./watched-pool.js";

/**
 * Returns the pool as one of a server that knows no compound statements: it refuses them as MySQL does. A store on it keeps
 * everything in the slots' rows, as earlier releases did.
 *
 * @param statements - gets every statement
 */
export function withoutCompounds(real: Pool, statements: string[] = []): Pool {
  return watchedPool(real, (sql) => {
    statements.push(sql);
    return sql.startsWith("BEGIN NOT ATOMIC")
      ? { code: "ER_PARSE_ERROR", errno: 1064, sqlState: "42000" }
      : undefined;
  });
}
