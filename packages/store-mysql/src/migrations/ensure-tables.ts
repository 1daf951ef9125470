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

/** Longer than a command: altering a large table takes time. */
const MIGRATION_MS = 60_000;
const CHECK_MS = 5_000;

/** Checks that succeeded or are in progress, per pool and prefix. */
const checks = new WeakMap<MysqlPool, Map<string, Promise<void>>>();

/**
 * Resolves when the tables exist; checks once per pool and prefix, and again after a failure.
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
 * Creates or migrates the tables now, as the first use of a store would; for deployments that migrate in a separate step.
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
    // Every statement of a migration may be repeated, so the outcome is never in doubt.
    throw storeFailure("preparing the tables", error, false);
  }
}
