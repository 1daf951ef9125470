import type { Slot } from "@holdfast/core";
import { AuthorizationNeeded } from "../auth/authorization-needed.js";
import type { Authorizer } from "../auth/authorizer.js";
import type { ServerSettings } from "../options/server-settings.js";
import { backoffMs } from "./backoff.js";
import type { CallServer, UsedConnection } from "./call-server.js";
import type { Connection } from "./connection.js";
import type { ListedTools } from "./list-tools.js";
import { ConnectFailed, type OpenOptions, openConnection } from "./open-connection.js";

/** Listener for the connection and the tools of a server. */
export interface ServerListener {
  /**
   * @param connected - false if the server was connected already and only its tools were read again
   * @returns whether the tools have changed
   */
  onTools(listed: ListedTools, connected: boolean): boolean;
  onAway(reason: string, retryInMs: number): void;
}

/** Time after which a connection counts as stable, so that the backoff starts over. */
const stableMs = 10_000;
/** Further processes of a server that asks questions: with one call each, it is known which call asks. */
const maxExtra = 8;

/** A call that waits for the connection. */
interface Waiter {
  arrive(connection: Connection): void;
  fail(error: Error): void;
}

/** Keeps one server connected: starts it, detects when it is lost, and reconnects. */
export class ReconnectingServer implements CallServer {
  readonly settings: ServerSettings;
  readonly #listener: ServerListener;
  readonly #end = new AbortController();
  readonly #waiting = new Set<Waiter>();
  readonly #authorizer: Authorizer | undefined;
  readonly #extra = new Set<Connection>();
  /** The server has asked a question before. */
  #asks = false;
  #connection: Connection | null = null;
  #pause: Pause | null = null;
  #running: Promise<void> | undefined;
  #failure: ConnectFailed | null = null;

  constructor(settings: ServerSettings, listener: ServerListener, authorizer?: Authorizer) {
    this.settings = settings;
    this.#listener = listener;
    this.#authorizer = authorizer;
  }

  /** Error of the last attempt; null while connected. */
  get failure(): ConnectFailed | null {
    return this.#failure;
  }

  /** Reason the server is not connected, worded to follow "the server". */
  get awayReason(): string {
    return this.#failure?.message ?? "is not connected yet";
  }

  /** Starts; resolves when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running ??= this.#run(resolve);
    });
  }

  /** Resolves to the connection as soon as there is one. @throws the signal's reason */
  connection(signal: AbortSignal): Promise<Connection> {
    if (this.#connection && !this.#connection.isLost) return Promise.resolve(this.#connection);
    // A call is waiting, so the next attempt comes after the shortest delay; not at once, or many calls would be many attempts.
    this.#pause?.shortenTo(this.settings.retry.baseDelayMs);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        arrive: (connection) => {
          signal.removeEventListener("abort", leave);
          resolve(connection);
        },
        fail: (error) => {
          signal.removeEventListener("abort", leave);
          reject(error);
        },
      };
      if (signal.aborted) return leave();
      this.#waiting.add(waiter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /**
   * Returns the connection for a call. A process that asks questions gets one call at a time, and others a process of their own:
   * over stdio nothing else says which call asks. One that only works on calls that were given up is started anew: as long as it
   * does, its questions reach nobody.
   */
  async use(_slot: Slot, signal: AbortSignal): Promise<UsedConnection> {
    const connection = await this.connection(signal);
    if (this.#asks && connection.isLeftOver)
      connection.fail("has not answered a call that it was told to stop");
    const isShared = this.settings.endpoint.kind === "http" || !this.#asks || !connection.isBusy;
    if (isShared || this.#extra.size >= maxExtra) return { connection, release: () => {} };
    const opened = await openConnection(
      this.settings,
      signal,
      this.#options(() => false),
    );
    const { connection: extra } = opened;
    this.#extra.add(extra);
    const release = () => {
      void extra.close().then(() => this.#extra.delete(extra));
    };
    if (this.#end.signal.aborted) release();
    return { connection: extra, release };
  }

  /** Tries to connect soon: what kept it away may be over. */
  retry(): void {
    this.#pause?.shortenTo(0);
  }

  /** Ends the connection, the process and any attempt; resolves when all of them have ended. */
  async close(): Promise<void> {
    this.#end.abort(new Error("closed"));
    this.#pause?.end();
    await this.#connection?.close();
    await Promise.all([...this.#extra].map((one) => one.close()));
    await this.#running;
  }

  async #run(firstDone: () => void): Promise<void> {
    const { signal } = this.#end;
    let failures = 0;
    while (!signal.aborted) {
      let upSince = Number.POSITIVE_INFINITY;
      let closed: Promise<void> | undefined;
      try {
        const connection = await this.#open();
        upSince = performance.now();
        firstDone();
        this.#failure = new ConnectFailed(await connection.lost, "");
        this.#connection = null;
        await connection.close();
      } catch (error) {
        this.#failure = error as ConnectFailed;
        closed = this.#failure.closed;
      }
      if (!signal.aborted) {
        failures = performance.now() - upSince >= stableMs ? 1 : failures + 1;
        await this.#away(this.#failure, failures, firstDone);
      }
      // Waits for the end of the old process: two processes of one server might interfere with each other.
      await closed;
    }
    firstDone();
  }

  /** Reports that the server is away, and waits until the next attempt is due. */
  async #away(failure: ConnectFailed, failures: number, firstDone: () => void): Promise<void> {
    const { message, authorize } = failure;
    // No attempt succeeds before a person has signed in.
    if (authorize !== undefined)
      this.#settle(({ fail }) => fail(new AuthorizationNeeded(authorize ?? undefined)));
    const retryInMs = backoffMs(failures, this.settings.retry);
    this.#pause = new Pause(retryInMs);
    // A call may have arrived during the failed attempt.
    if (this.#waiting.size > 0) this.#pause.shortenTo(this.settings.retry.baseDelayMs);
    this.#listener.onAway(message, retryInMs);
    firstDone();
    await this.#pause.done;
    this.#pause = null;
  }

  async #open(): Promise<Connection> {
    const { connection, listed } = await openConnection(
      this.settings,
      this.#end.signal,
      // Ignores a list from a connection that has been given up.
      this.#options(
        (again) => this.#connection === connection && this.#listener.onTools(again, false),
      ),
    );
    if (this.#end.signal.aborted) {
      throw new ConnectFailed("was closed", "", connection.close());
    }
    this.#connection = connection;
    this.#failure = null;
    try {
      this.#listener.onTools(listed, true);
    } catch {
      throw new ConnectFailed("has tools that cannot be read", "", connection.close());
    }
    this.#settle(({ arrive }) => arrive(connection));
    return connection;
  }

  #options(onTools: OpenOptions["onTools"]): OpenOptions {
    const onAsk = () => {
      this.#asks = true;
    };
    return { onTools, onAsk, authorizer: this.#authorizer };
  }

  #settle(tell: (waiter: Waiter) => void): void {
    for (const waiter of this.#waiting) tell(waiter);
    this.#waiting.clear();
  }
}

/** A delay that can be shortened. It does not keep the process alive. */
class Pause {
  readonly done: Promise<void>;
  readonly #began = performance.now();
  #finish: () => void = () => {};
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#timer = setTimeout(this.#finish, ms).unref();
  }

  /** Ends the delay `ms` after its start, unless it ends earlier anyway. */
  shortenTo(ms: number): void {
    const left = Math.max(0, ms - (performance.now() - this.#began));
    const earlier = setTimeout(() => this.end(), left).unref();
    void this.done.then(() => clearTimeout(earlier));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#finish();
  }
}
