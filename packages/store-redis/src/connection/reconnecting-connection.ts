import { HoldfastError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { sleep, withDeadline } from "@holdfast/core/store-kit";
import { classifyError, type Failure } from "./classify-error.js";
import type { Connection } from "./client-adapter.js";

/** One exchange with the server. */
export interface Request<C, T> {
  /** For errors: what is attempted. */
  readonly what: string;
  readonly writes: boolean;
  readonly deadlineMs: number;
  /** Drops a connection without an answer by the deadline, so that nothing piles up behind it. */
  readonly dropLate?: boolean | undefined;
  /** Repeated on a new connection when the last one was lost. */
  exchange(connection: C, remainingMs: () => number): Promise<T>;
}

/** Keeps one connection open: makes it when first needed, and a new one when it was lost. */
export class ReconnectingConnection<C extends Connection> {
  readonly #open: () => C;
  readonly #connectMs: number;
  readonly #closing = new AbortController();
  #connection: C | undefined;
  #opening: Promise<C> | undefined;
  #waiting = 0;
  #failures = 0;
  #notBefore = 0;

  constructor(open: () => C, connectMs: number) {
    this.#open = open;
    this.#connectMs = connectMs;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
    this.#connection?.drop();
  }

  /** The connection, if it can be used right now and no earlier caller is waiting for it. */
  get current(): C | undefined {
    return this.#waiting === 0 && this.#connection?.isOpen ? this.#connection : undefined;
  }

  /**
   * Runs a request within its deadline, repeated while that may help. On an open connection the first exchange begins before
   * this function returns.
   *
   * @throws UnknownOutcomeError when it writes and any attempt may have reached the server
   * @throws StoreUnavailableError otherwise; a `HoldfastError` of the exchange is passed on
   */
  async run<T>(request: Request<C, T>): Promise<T> {
    const end = performance.now() + request.deadlineMs;
    let isOver = false;
    // Made when first needed: creating and aborting one costs more than a command.
    let pause: AbortController | undefined;
    let mayHaveApplied = false;
    let busy: C | undefined;
    let last: Failure | undefined;

    const once = (): Promise<T> =>
      this.use((connection) => {
        if (isOver) throw new Error("too late");
        busy = connection;
        return request.exchange(connection, () => end - performance.now());
      });

    const repeat = async (): Promise<T> => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await once();
        } catch (error) {
          const connection = busy;
          busy = undefined;
          if (HoldfastError.is(error)) throw error;
          const failure = classifyError(error, connection !== undefined);
          // Noted before the pause, which the deadline may end.
          mayHaveApplied ||= failure.mayHaveApplied;
          last = this.isClosed ? closed : failure;
          if (!last.retry || isOver) throw failed(request, last, mayHaveApplied);
          if (failure.drop) connection?.drop();
          if (connection === undefined) continue; // Attempts to connect have a backoff of their own.
          pause ??= new AbortController();
          await sleep(backoffMs(attempt), pause.signal);
        }
      }
    };

    try {
      return await withDeadline(repeat, request.deadlineMs, () => {
        if (request.dropLate) busy?.drop();
        const failure = busy === undefined && last !== undefined ? last : noAnswer;
        return failed(request, failure, mayHaveApplied || busy !== undefined);
      });
    } finally {
      isOver = true;
      pause?.abort();
    }
  }

  /**
   * Uses the connection: before this function returns when it is open, else once it is, in the order of the calls. This is a
   * single attempt, which rejects when no connection could be opened.
   */
  use<T>(exchange: (connection: C) => Promise<T>): Promise<T> {
    const { current } = this;
    return current === undefined ? this.#useNext(exchange) : exchange(current);
  }

  async #useNext<T>(exchange: (connection: C) => Promise<T>): Promise<T> {
    this.#opening ??= this.#connect();
    this.#waiting++;
    let connection: C;
    try {
      connection = await this.#opening;
    } finally {
      if (--this.#waiting === 0) this.#opening = undefined;
    }
    return exchange(connection);
  }

  async #connect(): Promise<C> {
    const pauseMs = this.#notBefore - performance.now();
    if (pauseMs > 0) await sleep(pauseMs, this.#closing.signal);
    if (this.isClosed) throw new Error("closed");
    const connection = this.#open();
    this.#connection = connection;
    try {
      await withDeadline(
        () => connection.opened,
        this.#connectMs,
        () => new Error("connecting timed out"),
      );
      this.#failures = 0;
      return connection;
    } catch (error) {
      connection.drop();
      this.#notBefore = performance.now() + backoffMs(this.#failures++);
      throw error;
    }
  }
}

const MAX_BACKOFF_MS = 500;

/** Exponential backoff with equal jitter, so that processes which lost the server together do not reconnect together. */
function backoffMs(failures: number): number {
  return Math.min(20 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

const noAnswer: Failure = {
  reason: "Redis did not answer in time",
  advice: "check that the server runs and can be reached",
  mayHaveApplied: false,
  retry: true,
  drop: false,
};

const closed: Failure = {
  ...noAnswer,
  reason: "the connection was closed, or the client it was made from has ended",
  advice: "make a new store from a client that is in use",
  retry: false,
};

function failed(
  { what, writes }: Pick<Request<never, unknown>, "what" | "writes">,
  { reason, advice }: Failure,
  mayHaveApplied: boolean,
): Error {
  return writes && mayHaveApplied
    ? new UnknownOutcomeError(
        `${what} may or may not have been applied: ${reason}; ${advice}, then repeat it to find out`,
      )
    : new StoreUnavailableError(`${what} failed: ${reason}; ${advice}`);
}
