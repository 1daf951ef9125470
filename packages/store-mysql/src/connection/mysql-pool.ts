import { ConfigurationError } from "@holdfast/core";

/** A pool of mysql2, made with `createPool` of `mysql2/promise` or of `mysql2`. Structural: mysql2 is a peer. */
export interface MysqlPool {
  getConnection(...args: never[]): unknown;
}

/** One statement as mysql2 takes it, with every option that affects how rows are read set explicitly. */
export interface DriverStatement {
  readonly sql: string;
  readonly values?: readonly unknown[];
  readonly rowsAsArray: true;
  readonly nestTables: false;
  readonly namedPlaceholders: false;
  readonly typeCast: true | ((field: unknown, next: () => unknown) => unknown);
}

/** Callback of mysql2. */
export type DriverCallback<T> = (error: unknown, result: T) => void;

/**
 * A connection of a pool. With callbacks: mysql2's promises take a stack trace for every statement, which costs more than the
 * statement.
 */
export interface DriverConnection {
  /** Options of the caller's pool. */
  readonly config?: { readonly typeCast?: unknown };
  execute(statement: DriverStatement, done: DriverCallback<unknown>): unknown;
  query(statement: DriverStatement, done: DriverCallback<unknown>): unknown;
  release(): void;
  destroy(): void;
}

/** A pool with callbacks. */
export interface DriverPool {
  getConnection(done: DriverCallback<DriverConnection>): void;
}

/**
 * Returns the pool with callbacks, for either kind of pool.
 *
 * @throws ConfigurationError
 */
export function callbackPool(pool: MysqlPool): DriverPool {
  if ("promise" in pool && typeof pool.promise === "function") return pool as DriverPool;
  // A pool with promises wraps one with callbacks.
  if ("pool" in pool && isPool(pool.pool)) return callbackPool(pool.pool);
  throw new ConfigurationError([
    "option pool is not a pool of mysql2; make it with createPool of mysql2/promise or of mysql2",
  ]);
}

function isPool(value: unknown): value is MysqlPool {
  return typeof value === "object" && value !== null && "getConnection" in value;
}
