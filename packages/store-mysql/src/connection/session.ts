import type { Row } from "./cells.js";
import type { DriverConnection, DriverStatement } from "./mysql-pool.js";
import { readServerError, type ServerError } from "./server-error.js";

/** What may be bound to a placeholder. Texts go as bytes, so that no character set has a say. */
export type Value = Buffer | number | string | null;

/** What a statement that changes rows says. */
export interface WriteResult {
  readonly affectedRows: number;
  /** What the statement gave to `LAST_INSERT_ID`, or the number the row got by itself. */
  readonly insertId: number;
}

/** A statement failed. Never leaves this folder: `Database` makes a `StoreError` of it. */
export class StatementError extends Error {
  readonly server: ServerError;

  constructor(server: ServerError) {
    super(server.code);
    this.server = server;
  }
}

/** What failed when the time was up. */
const timedOut: ServerError = {
  code: "TIMEOUT",
  verdict: "unavailable",
  advice: "the server gave no answer in time, try again later",
  isRefusal: false,
  keepsConnection: false,
};

/** One connection of the pool while it is in use; every statement ends by the deadline. */
export class Session {
  readonly #connection: DriverConnection;
  /** On the clock of `performance.now()`. */
  readonly #deadline: number;
  #isUsable = true;

  constructor(connection: DriverConnection, deadline: number) {
    this.#connection = connection;
    this.#deadline = deadline;
  }

  /** Names the connection itself. */
  get identity(): object {
    return this.#connection;
  }

  /** Runs a prepared statement that returns rows. */
  async read(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    const rows = await this.#run("execute", statement(sql, values));
    return Array.isArray(rows) ? (rows as Row[]) : [];
  }

  /** Runs a prepared statement that changes rows. */
  async write(sql: string, values: readonly Value[]): Promise<WriteResult> {
    const result = await this.#run("execute", statement(sql, values));
    const { affectedRows, insertId } = (result ?? {}) as Record<string, unknown>;
    // Numbers, also where the caller's pool gives large ones as strings.
    return { affectedRows: Number(affectedRows ?? 0), insertId: Number(insertId ?? 0) };
  }

  /** Runs a statement that cannot be prepared: transactions, settings, definitions of tables. */
  async command(sql: string): Promise<void> {
    await this.#run("query", statement(sql));
  }

  /** Gives the connection back, or ends it where something may still be going on in it. */
  end(): void {
    if (this.#isUsable) this.#connection.release();
    else this.#connection.destroy();
    this.#isUsable = false;
  }

  /** @throws StatementError */
  #run(how: "execute" | "query", what: DriverStatement): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (server: ServerError): void => {
        clearTimeout(timer);
        if (!server.keepsConnection) this.#isUsable = false;
        reject(new StatementError(server));
      };
      const left = Math.max(this.#deadline - performance.now(), 0);
      const timer = setTimeout(() => fail(timedOut), left);
      const done = (error: unknown, result: unknown): void => {
        if (error) fail(readServerError(error));
        else {
          clearTimeout(timer);
          resolve(result);
        }
      };
      try {
        this.#connection[how](what, done);
      } catch (error) {
        fail(readServerError(error));
      }
    });
  }
}

function statement(sql: string, values?: readonly Value[]): DriverStatement {
  return {
    sql,
    ...(values !== undefined && { values }),
    rowsAsArray: true,
    nestTables: false,
    namedPlaceholders: false,
    // A function: anything else would let the pool's own one through.
    typeCast: (_field, next) => next(),
  };
}
