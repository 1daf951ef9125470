import { sleep, withDeadline } from "@holdfast/core/store-kit";
import type { ClientAdapter, ConnectionTiming, SubscriberConnection } from "./client-adapter.js";
import { ReconnectingConnection } from "./reconnecting-connection.js";

/** Ends a subscription; idempotent. */
export interface ChannelSubscription {
  close(): Promise<void>;
}

/** Receives the messages of a channel. */
export interface ChannelListener {
  onMessage(text: string): void;
  /** The connection was lost and is back: messages may have been missed in between, so read the current state. */
  onGap(): void;
}

/** All subscriptions of one client, on one connection that is watched, and replaced when it is lost. */
export class Subscriptions {
  readonly #adapter: ClientAdapter;
  readonly #timing: ConnectionTiming;
  readonly #connection: ReconnectingConnection<SubscriberConnection>;
  readonly #closing = new AbortController();
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  #wasOpen = false;

  constructor(adapter: ClientAdapter, timing: ConnectionTiming) {
    this.#adapter = adapter;
    this.#timing = timing;
    this.#connection = new ReconnectingConnection(() => this.#open(), timing.connectMs);
  }

  /** Resolves once messages arrive. @throws StoreUnavailableError when they do not by the deadline */
  async add(
    channel: string,
    listener: ChannelListener,
    deadlineMs: number,
  ): Promise<ChannelSubscription> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    // A wrapper, so that one listener may be added twice and each subscription ends its own.
    const own: ChannelListener = {
      onMessage: (text) => listener.onMessage(text),
      onGap: () => listener.onGap(),
    };
    this.#listeners.set(channel, listeners.add(own));
    try {
      await this.#connection.run({
        what: "subscribing to a channel",
        writes: false,
        deadlineMs,
        exchange: (connection) => connection.subscribe([channel]),
      });
    } catch (error) {
      await this.#remove(channel, own);
      throw error;
    }
    return { close: () => this.#remove(channel, own) };
  }

  close(): void {
    this.#closing.abort();
    this.#connection.close();
    this.#listeners.clear();
  }

  async #remove(channel: string, listener: ChannelListener): Promise<void> {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    // When this fails the connection is lost, and the next one does not subscribe to the channel.
    await this.#connection.current?.unsubscribe(channel).catch(() => undefined);
  }

  #open(): SubscriberConnection {
    let isInUse = false;
    const connection = this.#adapter.openSubscriber(this.#timing, {
      onMessage: (channel, text) => {
        for (const listener of [...(this.#listeners.get(channel) ?? [])]) listener.onMessage(text);
      },
      onLost: () => {
        if (isInUse) void this.#reopen();
        isInUse = false;
      },
    });
    const opened = connection.opened.then(async () => {
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) await connection.subscribe(channels);
      isInUse = true;
      if (this.#wasOpen) this.#reportGap();
      this.#wasOpen = true;
      void this.#watch(connection);
    });
    return resubscribed(connection, opened);
  }

  #reportGap(): void {
    for (const listeners of [...this.#listeners.values()])
      for (const listener of [...listeners]) listener.onGap();
  }

  async #reopen(): Promise<void> {
    while (!this.#connection.isClosed && this.#listeners.size > 0) {
      try {
        await this.#connection.use(async () => undefined);
        return;
      } catch {
        // The next attempt to connect waits for its backoff.
      }
    }
  }

  /** Pings: without a request a subscriber would not notice that the server is gone. */
  async #watch(connection: SubscriberConnection): Promise<void> {
    const { silenceMs, connectMs } = this.#timing;
    for (;;) {
      await sleep(silenceMs, this.#closing.signal);
      if (this.#connection.isClosed || !connection.isOpen) return;
      try {
        await withDeadline(
          () => connection.ping(),
          connectMs,
          () => new Error("no answer"),
        );
      } catch {
        return connection.drop();
      }
    }
  }
}

/** The connection, open only once it has the subscriptions of the one before it. */
function resubscribed(
  connection: SubscriberConnection,
  opened: Promise<void>,
): SubscriberConnection {
  return {
    opened,
    get isOpen() {
      return connection.isOpen;
    },
    subscribe: (channels) => connection.subscribe(channels),
    unsubscribe: (channel) => connection.unsubscribe(channel),
    ping: () => connection.ping(),
    drop: () => connection.drop(),
  };
}
