import { callbackPool, type DriverPool, type MysqlPool } from "./mysql-pool.js";
import { type Leave, type PoolQueue, type Precedence, queueOf } from "./pool-queue.js";
import { readServerError } from "./server-error.js";
import { Session, StatementError } from "./session.js";

/** Settings that connections have, by the connection: parts with other settings may share a pool. */
const current = new WeakMap<object, string>();

/** Longest time, in seconds, for which a server without a time-out for transactions keeps an idle connection. */
const IDLE_CONNECTION_SECONDS = 30;

/** The caller's pool, used with a deadline. */
export class Connections {
  /** The server knows compound statements, as MariaDB does; false once it has refused one as unknown. */
  knowsCompounds = true;
  readonly #pool: DriverPool;
  readonly #queue: PoolQueue;
  readonly #settings: string;

  constructor(pool: MysqlPool, commandTimeoutMs: number) {
    this.#pool = callbackPool(pool);
    this.#queue = queueOf(this.#pool);
    // The server gives up waiting before this store does, so that there is time to retry.
    const seconds = Math.min(Math.max(Math.floor((commandTimeoutMs * 0.6) / 1_000), 1), 50);
    // No transaction of this store lasts longer than a command.
    const idleSeconds = Math.ceil(commandTimeoutMs / 1_000);
    this.#settings = `SET SESSION innodb_lock_wait_timeout = ${seconds}, autocommit = 1${endingIdle(idleSeconds)}`;
  }

  /**
   * Runs `work` on a connection and returns it to the pool. Waiting for a connection counts towards the deadline; one that comes
   * too late goes back unused.
   *
   * @param deadline - on the clock of `performance.now()`
   * @param precedence - before which others it gets a connection, when the pool has none left
   * @throws StatementError when the pool gives no connection; errors of `work` are passed on
   */
  async use<T>(
    deadline: number,
    work: (session: Session) => Promise<T>,
    precedence: Precedence = "usual",
  ): Promise<T> {
    const leave = await this.#queue.enter(precedence, deadline);
    if (leave === null) throw new StatementError(noConnection);
    const session = await this.#take(deadline, leave);
    try {
      if (current.get(session.identity) !== this.#settings) {
        await session.command(this.#settings);
        current.set(session.identity, this.#settings);
      }
      return await work(session);
    } finally {
      session.end();
      leave();
    }
  }

  /**
   * @param leave - called when no session comes of it, once the pool has answered
   * @throws StatementError
   */
  #take(deadline: number, leave: Leave): Promise<Session> {
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
        if (!error && !isLate) return resolve(new Session(connection, deadline));
        if (error) reject(new StatementError(readServerError(error)));
        else connection.release();
        leave();
      });
    });
  }
}

/**
 * Assignments that keep a node that vanished inside a transaction, without closing its connection, from holding its locks.
 *
 * Each server reads those that it has: MariaDB the first comment, and MySQL, which has no time-out for idle transactions, the
 * second, which MariaDB skips because of its number.
 */
function endingIdle(seconds: number): string {
  const idle = "@@SESSION.idle_transaction_timeout";
  return `
/*M!100300 , idle_transaction_timeout = IF(${idle} BETWEEN 1 AND ${seconds}, ${idle}, ${seconds}) */
/*!80000 , wait_timeout = LEAST(@@SESSION.wait_timeout, ${IDLE_CONNECTION_SECONDS}) */`;
}

const noConnection = {
  code: "TIMEOUT",
  verdict: "unavailable",
  advice:
    "the pool gave no connection in time; check that the server answers and that the pool's connectionLimit is high enough",
  isRefusal: false,
  keepsConnection: false,
} as const;
