import type { ServerSettings } from "../options/server-settings.js";
import { backoffMs } from "./backoff.js";
import type { Connection } from "./connection.js";
import type { ListedTools } from "./list-tools.js";
import { ConnectFailed, openConnection } from "./open-connection.js";
import { Pause } from "./pause.js";

/** Told what becomes of a server. */
export interface LinkListener {
  /**
   * @param connected - false when the server was there already and only its tools were read again
   * @returns whether they are others than before
   */
  onTools(listed: ListedTools, connected: boolean): boolean;
  onAway(reason: string, retryInMs: number): void;
}

/** A connection that lasted as long was a good one: the pauses begin anew. */
const stableMs = 10_000;

/** Keeps one server connected: starts it, notices when it is gone, and brings it back. */
export class ServerLink {
  readonly settings: ServerSettings;
  readonly #listener: LinkListener;
  readonly #end = new AbortController();
  readonly #waiting = new Set<(connection: Connection) => void>();
  #connection: Connection | null = null;
  #pause: Pause | null = null;
  #running: Promise<void> | undefined;
  #failure: ConnectFailed | null = null;

  constructor(settings: ServerSettings, listener: LinkListener) {
    this.settings = settings;
    this.#listener = listener;
  }

  /** Why the last attempt failed; null while connected. */
  get failure(): ConnectFailed | null {
    return this.#failure;
  }

  /** What the server did last that is in the way, in words. */
  get awayWords(): string {
    return this.#failure?.message ?? "is not connected yet";
  }

  /** Begins; resolves when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running ??= this.#run(resolve);
    });
  }

  /** The connection, as soon as there is one. @throws the signal's reason */
  connection(signal: AbortSignal): Promise<Connection> {
    if (this.#connection && !this.#connection.isLost) return Promise.resolve(this.#connection);
    // Somebody wants it now: not at once, or many calls would be many attempts, but after the shortest pause.
    this.#pause?.shortenTo(this.settings.retry.baseDelayMs);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(arrive);
        reject(signal.reason);
      };
      const arrive = (connection: Connection) => {
        signal.removeEventListener("abort", leave);
        resolve(connection);
      };
      if (signal.aborted) return leave();
      this.#waiting.add(arrive);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Ends the connection and the process, and any attempt; resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#end.abort(new Error("closed"));
    this.#pause?.end();
    await this.#connection?.close();
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
      // Until nothing of it runs any more: two processes of one server might get in each other's way.
      await closed;
    }
    firstDone();
  }

  /** Tells that the server is away, and waits until it is to be tried again. */
  async #away({ message }: ConnectFailed, failures: number, firstDone: () => void): Promise<void> {
    const retryInMs = backoffMs(failures, this.settings.retry);
    this.#pause = new Pause(retryInMs);
    // A call may be waiting already: it came while the failed attempt was on.
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
      // Read from a connection that is given up by now, a list says nothing.
      (again) => this.#connection === connection && this.#listener.onTools(again, false),
    );
    if (this.#end.signal.aborted) {
      throw new ConnectFailed("was closed", "", connection.close());
    }
    this.#connection = connection;
    this.#failure = null;
    try {
      this.#listener.onTools(listed, true);
    } catch {
      throw new ConnectFailed("has tools that cannot be understood", "", connection.close());
    }
    for (const arrive of this.#waiting) arrive(connection);
    this.#waiting.clear();
    return connection;
  }
}
