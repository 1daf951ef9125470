import type { Row } from "./cells.js";
import type { DriverConnection, DriverStatement } from "./mysql-pool.js";
import { readServerError, type ServerError } from "./server-error.js";

/** A value of a placeholder. Texts are sent as bytes, so that no character set applies. */
export type Value = Buffer | number | string | null;

/** Result of a statement that changes rows. */
export interface WriteResult {
  readonly affectedRows: number;
  /** Value the statement passed to `LAST_INSERT_ID`, or the row's AUTO_INCREMENT number. */
  readonly insertId: number;
}

/** Error of a failed statement. Internal: `Database` turns it into a `StoreError`. */
export class StatementError extends Error {
  readonly server: ServerError;

  constructor(server: ServerError) {
    super(server.code);
    this.server = server;
  }
}

/** Classification of a statement that missed its deadline. */
const timedOut: ServerError = {
  code: "TIMEOUT",
  verdict: "unavailable",
  advice: "the server gave no answer in time, try again later",
  isRefusal: false,
  keepsConnection: false,
};

/** Classification of a reply that its statement does not have: rows for a write, or none for a query. */
const unexpected: ServerError = {
  code: "UNEXPECTED_REPLY",
  verdict: "unavailable",
  advice:
    "the statement was answered with a reply that it does not have; check proxies between this process and the server",
  isRefusal: false,
  keepsConnection: false,
};

/** One connection of the pool while it is in use; every statement ends by the deadline. */
export class Session {
  readonly #connection: DriverConnection;
  /** On the clock of `performance.now()`. */
  readonly #deadline: number;
  readonly #typeCast: DriverStatement["typeCast"];
  #isUsable = true;

  constructor(connection: DriverConnection, deadline: number) {
    this.#connection = connection;
    this.#deadline = deadline;
    this.#typeCast = plainCast(connection);
  }

  /** Identifies the connection itself. */
  get identity(): object {
    return this.#connection;
  }

  /** Runs a prepared statement that returns rows. */
  async read(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    const rows = await this.#run("execute", sql, values);
    if (!Array.isArray(rows) || !rows.every(Array.isArray)) throw this.#unexpected();
    return rows as Row[];
  }

  /** Runs a prepared statement that changes rows. */
  async write(sql: string, values: readonly Value[]): Promise<WriteResult> {
    const result = await this.#run("execute", sql, values);
    // Numbers, also where the caller's pool returns large ones as strings.
    const { affectedRows, insertId } = (result ?? {}) as Record<string, unknown>;
    const written = { affectedRows: Number(affectedRows), insertId: Number(insertId) };
    if (!Object.values(written).every(Number.isFinite)) throw this.#unexpected();
    return written;
  }

  /** Runs a prepared compound statement; returns the rows of its first SELECT, none if it has no SELECT. */
  async call(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    const results = await this.#run("execute", sql, values);
    if (!Array.isArray(results)) return [];
    const [rows] = results as unknown[];
    if (!Array.isArray(rows) || !rows.every(Array.isArray)) throw this.#unexpected();
    return rows as Row[];
  }

  /** Runs a statement that cannot be prepared: transactions, settings, definitions of tables. */
  async command(sql: string): Promise<void> {
    await this.#run("query", sql);
  }

  /** Returns the connection to the pool, or ends it when a statement may still be running on it. */
  end(): void {
    if (this.#isUsable) this.#connection.release();
    else this.#connection.destroy();
    this.#isUsable = false;
  }

  /** A reply that its statement does not have, from something between this process and the server: nothing more is asked there. */
  #unexpected(): StatementError {
    this.#isUsable = false;
    return new StatementError(unexpected);
  }

  /** @throws StatementError */
  #run(how: "execute" | "query", sql: string, values?: readonly Value[]): Promise<unknown> {
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
        this.#connection[how](this.#statement(sql, values), done);
      } catch (error) {
        fail(readServerError(error));
      }
    });
  }

  #statement(sql: string, values?: readonly Value[]): DriverStatement {
    return {
      sql,
      ...(values !== undefined && { values }),
      rowsAsArray: true,
      nestTables: false,
      namedPlaceholders: false,
      typeCast: this.#typeCast,
    };
  }
}

/**
 * Returns the option with which values are read as the driver reads them by itself. Only a function takes the place of one that
 * the caller's pool has; without need it would cost several objects for every cell.
 */
function plainCast({ config }: DriverConnection): DriverStatement["typeCast"] {
  const hasNone = config !== undefined && typeof config.typeCast !== "function";
  return hasNone ? true : (_field, next) => next();
}
