import { ConfigurationError, StateTooNewError, StoreUnavailableError } from "@holdfast/core";
import { asNumber } from "../connection/cells.js";
import { type Session, StatementError } from "../connection/session.js";
import type { Tables } from "../keys.js";
import type { Migration } from "./migration.js";
import { migrations, migrationsTable, newestMigration, recordStatement } from "./migrations.js";
import { schema } from "./schema.js";

/** Result of running the migrations. */
export interface MigrationReport {
  /** Numbers of the migrations that were run now. */
  readonly applied: readonly number[];
  /** Migrations left out because the pool's user may not run them, and what is missing without them. */
  readonly leftOut: readonly { readonly number: number; readonly missing: string }[];
}

/** Longest wait for statements that use a table to be altered; all later ones on that table wait as well. */
const TABLE_LOCK_SECONDS = 5;
/** Longest wait for another node that is migrating. */
const LOCK_SECONDS = 30;
const TABLE_EXISTS = /^ER_TABLE_EXISTS_ERROR /;
const MISSING_TABLE = /^ER_NO_SUCH_TABLE /;
const ACCESS_DENIED = /^ER_\w*ACCESS_DENIED\w* /;

/**
 * Returns the migrations that are not recorded as applied.
 *
 * @throws StateTooNewError when the tables need a newer release
 */
export async function pendingMigrations(
  session: Session,
  t: Tables,
): Promise<readonly Migration[]> {
  let numbers: number[];
  try {
    const rows = await session.read(`SELECT number, min_reader FROM ${t.migrations}`, []);
    numbers = rows.map(([number]) => asNumber(number));
    const needed = Math.max(0, ...rows.map(([, minReader]) => asNumber(minReader)));
    if (needed > newestMigration)
      throw new StateTooNewError(
        `the tables ${t.prefix}* need a release of @holdfast/store-mysql that knows migration ${needed}; this one knows ${newestMigration}, upgrade it`,
      );
  } catch (error) {
    if (!isServerError(error, MISSING_TABLE)) throw error;
    numbers = [];
  }
  return migrations.filter(({ number }) => !numbers.includes(number));
}

/** Refuses pending migrations that are not optional. @throws ConfigurationError that names them */
export function refusePending(t: Tables, pending: readonly Migration[]): void {
  const required = pending.filter(({ optional }) => optional === undefined);
  if (required.length === 0) return;
  throw new ConfigurationError(
    required.map(
      ({ number, name }) =>
        `migration ${number} (${name}) of the tables ${t.prefix}* was not run; run migrate() or the statements of migrationStatements(), or do not set migrate: false`,
    ),
  );
}

/**
 * Runs the pending migrations; of several nodes one runs them while the others wait.
 *
 * @throws StateTooNewError
 */
export async function runMigrations(session: Session, t: Tables): Promise<MigrationReport> {
  return withLock(session, t, async () => {
    const applied: number[] = [];
    const leftOut: { number: number; missing: string }[] = [];
    const pending = await pendingMigrations(session, t);
    const required = pending.filter(({ optional }) => optional === undefined);
    // When only optional ones are pending the table exists, and the user may lack the privilege to create one.
    if (required.length > 0) await session.command(migrationsTable(t.migrations));
    if (pending.length === migrations.length && (await createTables(session, t))) {
      await session.command(recordStatement(t.migrations, ...required));
      applied.push(...required.map(({ number }) => number));
    }
    for (const migration of pending.filter(({ number }) => !applied.includes(number))) {
      const { number, optional } = migration;
      try {
        for (const statement of migration.statements(t)) await session.command(statement);
        await session.command(recordStatement(t.migrations, migration));
        applied.push(number);
      } catch (error) {
        if (optional === undefined || !isServerError(error, ACCESS_DENIED)) throw error;
        leftOut.push({ number, missing: optional });
      }
    }
    return { applied: applied.sort((a, b) => a - b), leftOut };
  });
}

/**
 * Creates all tables in their current form; false as soon as one exists, made by an earlier release or by a process that died
 * here. The migrations, one by one, then complete either: they change nothing that is in the current form already.
 */
async function createTables(session: Session, t: Tables): Promise<boolean> {
  try {
    for (const statement of schema(t)) await session.command(statement);
    return true;
  } catch (error) {
    if (!isServerError(error, TABLE_EXISTS)) throw error;
    return false;
  }
}

async function withLock<T>(session: Session, t: Tables, work: () => Promise<T>): Promise<T> {
  // Such locks apply to the whole server, so the database is part of the name; 64 characters are allowed.
  const name = "CONCAT('holdfast_', SHA1(CONCAT(COALESCE(DATABASE(), ''), '.', ?)))";
  const prefix = Buffer.from(t.prefix, "utf8");
  const [locked] = await session.read(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS})`, [prefix]);
  if (asNumber(locked?.[0]) !== 1)
    throw new StoreUnavailableError(
      `another node has been migrating the tables ${t.prefix}* for ${LOCK_SECONDS} s; try again when it is done`,
    );
  try {
    await session.command(`SET SESSION lock_wait_timeout = ${TABLE_LOCK_SECONDS}`);
    return await work();
  } finally {
    // A connection that failed is ended, and its settings and lock with it.
    await session.command("SET SESSION lock_wait_timeout = DEFAULT").catch(() => undefined);
    await session.read(`SELECT RELEASE_LOCK(${name})`, [prefix]).catch(() => undefined);
  }
}

function isServerError(error: unknown, code: RegExp): boolean {
  return error instanceof StatementError && code.test(error.server.code);
}
