import { StoreUnavailableError } from "@holdfast/core";
import { sleep, withDeadline } from "@holdfast/core/store-kit";
import type { Tables } from "../keys.js";
import type { Row } from "./cells.js";
import type { Connections } from "./connections.js";
import { PacketLimit } from "./packet-limit.js";
import type { Precedence } from "./pool-queue.js";
import { type Session, StatementError, type Value, type WriteResult } from "./session.js";
import { storeFailure } from "./store-failure.js";

/** Statements inside a transaction. Do not catch their errors: they end the transaction. */
export interface Transaction {
  read(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
  write(sql: string, values?: readonly Value[]): Promise<WriteResult>;
}

/** Dependencies of {@link Database}. */
export interface DatabaseParts {
  readonly connections: Connections;
  readonly tables: Tables;
  readonly commandTimeoutMs: number;
  /** Time after which sessions expire; undefined when they do not. */
  readonly ttlMs?: number | undefined;
  /** Time by which all commands must end, on the clock of `performance.now()`. */
  readonly deadline?: number | undefined;
  /** Precedence of its commands where the pool has no connection left. @default "usual" */
  readonly precedence?: Precedence | undefined;
  readonly limit?: PacketLimit | undefined;
  /** Ensures that the tables exist; called before every command, so it must be quick when they do. */
  prepare(): Promise<void>;
}

/** Progress of a unit of work: from `write` or `commit` on it cannot be undone. */
type Stage = "undoable" | "write" | "commit";

type Work<T> = (session: Session, enter: (stage: Stage) => void) => Promise<T>;

/**
 * Everything this package needs of the server.
 *
 * Contract:
 * - Everything ends within `commandTimeoutMs`, or by the deadline of {@link within}, with a result or a `HoldfastError`. `StoreUnavailableError`: certainly
 *   not applied. `UnknownOutcomeError`: the answer was lost while a COMMIT, or a write of its own, was under way.
 * - Work that lost against another transaction (deadlock, lock wait) is rolled back and retried, so a body may run several
 *   times. Work that lost its connection before anything can have been applied is retried once.
 * - A statement too large for the server is refused before it is sent.
 * - Rows are lists of cells; read them with `asText`, `asBytes`, `asNumber`.
 * - Statement texts must be few and constant: each is prepared once per connection and stays prepared.
 * - Errors never carry statements, values or addresses.
 */
export class Database {
  readonly tables: Tables;
  readonly commandTimeoutMs: number;
  /** Time after which sessions expire; undefined when they do not. */
  readonly ttlMs: number | undefined;
  readonly #parts: DatabaseParts;
  readonly #limit: PacketLimit;

  constructor(parts: DatabaseParts) {
    this.tables = parts.tables;
    this.commandTimeoutMs = parts.commandTimeoutMs;
    this.ttlMs = parts.ttlMs;
    this.#parts = parts;
    this.#limit = parts.limit ?? new PacketLimit();
  }

  /** Tells whether the server is one with {@link compound} statements, as far as is known. */
  get knowsCompounds(): boolean {
    return this.#parts.connections.knowsCompounds;
  }

  /** Returns the same database for commands that together end within `ms` from now. */
  within(ms: number): Database {
    return new Database({ ...this.#parts, limit: this.#limit, deadline: performance.now() + ms });
  }

  /** Returns the same database for commands that get a connection before others, or after them. */
  going(precedence: Precedence): Database {
    return new Database({ ...this.#parts, limit: this.#limit, precedence });
  }

  /**
   * Runs one statement that returns rows, all of one snapshot.
   *
   * @param what - for errors: what is attempted, for example `loading session "s"`
   */
  read(what: string, sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return this.#run(what, (session) => session.read(sql, values));
  }

  /** Runs one statement that changes rows, committed by itself. */
  write(what: string, sql: string, values: readonly Value[] = []): Promise<WriteResult> {
    return this.#run(what, async (session, enter) => {
      await this.#limit.check(session, what, values);
      enter("write");
      return session.write(sql, values);
    });
  }

  /** Runs one INSERT, committed by itself; `false` when a row with that key exists, which then stays as it is, or when it selects none. */
  async insert(what: string, sql: string, values: readonly Value[]): Promise<boolean> {
    const inserted = await this.#try(
      what,
      values,
      (session) => session.write(sql, values),
      async ({ server }) => server.verdict === "duplicate",
    );
    return inserted !== null && inserted.affectedRows > 0;
  }

  /**
   * Runs a compound statement, which is a transaction of its own, if the server knows such statements.
   *
   * @returns the rows of its first SELECT; null when it was refused and is to be run as a {@link transaction}, which tells why, also
   * whether it was applied
   */
  async compound(
    what: string,
    sql: string,
    values: readonly Value[],
  ): Promise<readonly Row[] | null> {
    const { connections } = this.#parts;
    if (!connections.knowsCompounds) return null;
    return this.#try(
      what,
      values,
      (session) => session.call(sql, values),
      async ({ server }, session) => {
        if (server.verdict === "unsupported") connections.knowsCompounds = false;
        // A statement that was killed does not come to its own handler.
        await session.command("ROLLBACK").catch(() => undefined);
        return server.verdict !== "retry";
      },
    );
  }

  /** Runs one statement, committed by itself; null when it is refused and `isExpected` of the refusal. */
  #try<T>(
    what: string,
    values: readonly Value[],
    run: (session: Session) => Promise<T>,
    isExpected: (refusal: StatementError, session: Session) => Promise<boolean>,
  ): Promise<T | null> {
    return this.#run(what, async (session, enter) => {
      await this.#limit.check(session, what, values);
      enter("write");
      try {
        return await run(session);
      } catch (error) {
        if (!(error instanceof StatementError) || !error.server.isRefusal) throw error;
        if (await isExpected(error, session)) return null;
        throw error;
      }
    });
  }

  /** Runs statements that are committed together; `body` may run several times. */
  transaction<T>(what: string, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#run(what, async (session, enter) => {
      await session.command("START TRANSACTION");
      let result: T;
      try {
        result = await body({
          read: (sql, values = []) => session.read(sql, values),
          write: async (sql, values = []) => {
            await this.#limit.check(session, what, values);
            return session.write(sql, values);
          },
        });
      } catch (error) {
        // When this fails the connection ends, and the server rolls back by itself.
        await session.command("ROLLBACK").catch(() => undefined);
        throw error;
      }
      enter("commit");
      await session.command("COMMIT");
      return result;
    });
  }

  /** Runs `work` until it succeeds, fails for good, or the time is up. */
  async #run<T>(what: string, work: Work<T>): Promise<T> {
    const deadline = this.#parts.deadline ?? performance.now() + this.commandTimeoutMs;
    await this.#ready(what);
    let hasReconnected = false;
    for (let attempt = 0; ; attempt++) {
      let stage: Stage = "undoable";
      try {
        return await this.#parts.connections.use(
          deadline,
          (session) =>
            work(session, (next) => {
              stage = next;
            }),
          this.#parts.precedence,
        );
      } catch (error) {
        if (!(error instanceof StatementError)) throw error;
        const { verdict } = error.server;
        const mayHaveApplied = mayBeApplied(stage, error);
        const mayRepeat = verdict === "retry" || (verdict === "lost" && !hasReconnected);
        const pauseMs = Math.random() * Math.min(2 ** attempt, 64);
        if (mayHaveApplied || !mayRepeat || performance.now() + pauseMs >= deadline)
          throw storeFailure(what, error, mayHaveApplied);
        hasReconnected ||= verdict === "lost";
        await sleep(pauseMs);
      }
    }
  }

  #ready(what: string): Promise<void> {
    return withDeadline(
      () => this.#parts.prepare(),
      this.commandTimeoutMs,
      () =>
        new StoreUnavailableError(
          `${what} failed: the tables are still being prepared, try again later`,
        ),
    );
  }
}

function mayBeApplied(stage: Stage, { server }: StatementError): boolean {
  if (stage === "undoable") return false;
  // A refused statement was not executed. A refused COMMIT was rolled back only when the server reports a conflict.
  return stage === "write" ? !server.isRefusal : server.verdict !== "retry";
}
