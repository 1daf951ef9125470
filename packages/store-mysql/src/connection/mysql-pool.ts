import { ConfigurationError } from "@holdfast/core";

/** A pool of mysql2, made with `createPool` of `mysql2/promise` or of `mysql2`. Structural: mysql2 is a peer. */
export interface MysqlPool {
  getConnection(...args: never[]): unknown;
}

/** One statement as mysql2 takes it, with every option that changes how rows are read set by us. */
export interface DriverStatement {
  readonly sql: string;
  readonly values?: readonly unknown[];
  readonly rowsAsArray: true;
  readonly nestTables: false;
  readonly namedPlaceholders: false;
  typeCast(field: unknown, next: () => unknown): unknown;
}

/** A connection with promises, as a pool hands it out. */
export interface DriverConnection {
  execute(statement: DriverStatement): Promise<readonly [unknown, ...unknown[]]>;
  query(statement: DriverStatement): Promise<readonly [unknown, ...unknown[]]>;
  release(): void;
  destroy(): void;
  /** The connection itself; what the pool hands out is wrapped anew each time. */
  readonly connection?: object;
}

/** A pool with promises. */
export interface DriverPool {
  getConnection(): Promise<DriverConnection>;
}

/**
 * The pool with promises, whichever kind was given.
 *
 * @throws ConfigurationError
 */
export function promisePool(pool: MysqlPool): DriverPool {
  if ("promise" in pool && typeof pool.promise === "function") return pool.promise() as DriverPool;
  // A pool with callbacks has its settings beside `getConnection`, one with promises is wrapped around such a pool.
  if ("pool" in pool) return pool as DriverPool;
  throw new ConfigurationError([
    "option pool is not a pool of mysql2; make it with createPool of mysql2/promise or of mysql2",
  ]);
}
