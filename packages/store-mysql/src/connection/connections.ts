import { callbackPool, type DriverPool, type MysqlPool } from "./mysql-pool.js";
import { readServerError } from "./server-error.js";
import { Session, StatementError } from "./session.js";

/** The caller's pool, used with a deadline. */
export class Connections {
  readonly #pool: DriverPool;
  /** Connections that have these settings. */
  readonly #known = new WeakSet<object>();
  readonly #settings: string;

  constructor(pool: MysqlPool, commandTimeoutMs: number) {
    this.#pool = callbackPool(pool);
    // The server gives up waiting for a row before this store does, so that there is time to retry.
    const lockWaitSeconds = Math.min(Math.max(Math.floor((commandTimeoutMs * 0.6) / 1_000), 1), 50);
    this.#settings = `SET SESSION innodb_lock_wait_timeout = ${lockWaitSeconds}, autocommit = 1`;
  }

  /**
   * Runs `work` on a connection and returns it to the pool. Waiting for a connection counts towards the deadline; one that comes
   * too late goes back unused.
   *
   * @param deadline - on the clock of `performance.now()`
   * @throws StatementError when the pool gives no connection; errors of `work` are passed on
   */
  async use<T>(deadline: number, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#take(deadline);
    try {
      if (!this.#known.has(session.identity)) {
        await session.command(this.#settings);
        this.#known.add(session.identity);
      }
      return await work(session);
    } finally {
      session.end();
    }
  }

  /** @throws StatementError */
  #take(deadline: number): Promise<Session> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(
        () => {
          isLate = true;
          reject(new StatementError(noConnection));
        },
        Math.max(deadline - performance.now(), 0),
      );
      this.#pool.getConnection((error, connection) => {
        clearTimeout(timer);
        if (error) reject(new StatementError(readServerError(error)));
        else if (isLate) connection.release();
        else resolve(new Session(connection, deadline));
      });
    });
  }
}

const noConnection = {
  code: "TIMEOUT",
  verdict: "unavailable",
  advice:
    "the pool gave no connection in time; check that the server answers and that the pool's connectionLimit is high enough",
  isRefusal: false,
  keepsConnection: false,
} as const;
