import { Connections } from "../connection/connections.js";
import type { MysqlPool } from "../connection/mysql-pool.js";
import { type Session, StatementError } from "../connection/session.js";
import { storeFailure } from "../connection/store-failure.js";
import { type Tables, tableNames } from "../keys.js";
import { type MysqlPartOptions, readOptions } from "../options.js";
import {
  type MigrationReport,
  pendingMigrations,
  refusePending,
  runMigrations,
} from "./run-migrations.js";

/** Longer than a command: changing a large table takes its time. */
const MIGRATION_MS = 60_000;
const CHECK_MS = 5_000;

/** Per pool and prefix: the check that succeeded, or is under way. */
const checks = new WeakMap<MysqlPool, Map<string, Promise<void>>>();

/**
 * Resolves when the tables are there; looks once per pool and prefix, and again after a failure.
 *
 * @throws ConfigurationError when something is missing and `migrate` is false
 */
export function ensureTables(
  pool: MysqlPool,
  connections: Connections,
  tables: Tables,
  migrate: boolean,
): Promise<void> {
  const known = checks.get(pool) ?? new Map<string, Promise<void>>();
  checks.set(pool, known);
  const key = `${migrate}:${tables.prefix}`;
  const running = known.get(key);
  if (running !== undefined) return running;
  const check = checkTables(connections, tables, migrate);
  known.set(key, check);
  check.catch(() => known.delete(key));
  return check;
}

/**
 * Makes or changes the tables now, as the first use of a store would; for deployments that do it as a step of its own.
 *
 * @throws ConfigurationError | StoreUnavailableError
 * @throws StateTooNewError when the tables need a newer release
 */
export async function migrate(
  pool: MysqlPool,
  options: Pick<MysqlPartOptions, "tablePrefix"> = {},
): Promise<MigrationReport> {
  const { tablePrefix } = readOptions("migrate", { ...options, pool }, ["pool", "tablePrefix"]);
  return migrateTables(new Connections(pool, MIGRATION_MS), tableNames(tablePrefix));
}

async function checkTables(
  connections: Connections,
  tables: Tables,
  mayMigrate: boolean,
): Promise<void> {
  const pending = await use(connections, CHECK_MS, (session) => pendingMigrations(session, tables));
  if (!mayMigrate) refusePending(tables, pending);
  else if (pending.length > 0) await migrateTables(connections, tables);
}

function migrateTables(connections: Connections, tables: Tables): Promise<MigrationReport> {
  return use(connections, MIGRATION_MS, (session) => runMigrations(session, tables));
}

async function use<T>(
  connections: Connections,
  ms: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    return await connections.use(performance.now() + ms, work);
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    // Every statement of a migration may be repeated, so that nothing is left open.
    throw storeFailure("preparing the tables", error, false);
  }
}
