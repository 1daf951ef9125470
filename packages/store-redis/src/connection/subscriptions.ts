import { sleep, withDeadline } from "@holdfast/core/store-kit";
import type { LineTiming, Link, SubscriberLine } from "./line.js";
import { LineKeeper } from "./line-keeper.js";
import type { ChannelListener, ChannelSubscription } from "./redis-connection.js";
import { runWithin } from "./run-within.js";

/** All subscriptions of one link, on one connection that is watched, and replaced when it is lost. */
export class Subscriptions {
  readonly #link: Link;
  readonly #timing: LineTiming;
  readonly #keeper: LineKeeper<SubscriberLine>;
  readonly #closing = new AbortController();
  readonly #listeners = new Map<string, Set<ChannelListener>>();
  #wasOpen = false;

  constructor(link: Link, timing: LineTiming) {
    this.#link = link;
    this.#timing = timing;
    this.#keeper = new LineKeeper(() => this.#openLine(), timing.connectMs);
  }

  /** @throws StoreUnavailableError when messages do not arrive by the deadline */
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
      await runWithin(this.#keeper, {
        what: "subscribing to a channel",
        writes: false,
        deadlineMs,
        exchange: (line) => line.subscribe([channel]),
      });
    } catch (error) {
      await this.#remove(channel, own);
      throw error;
    }
    return { close: () => this.#remove(channel, own) };
  }

  close(): void {
    this.#closing.abort();
    this.#keeper.close();
    this.#listeners.clear();
  }

  async #remove(channel: string, listener: ChannelListener): Promise<void> {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    // When this fails the connection is lost, and the next one does not subscribe to the channel.
    await this.#keeper.line?.unsubscribe(channel).catch(() => undefined);
  }

  #openLine(): SubscriberLine {
    let isInUse = false;
    const line = this.#link.openSubscriber(this.#timing, {
      onMessage: (channel, text) => {
        for (const listener of [...(this.#listeners.get(channel) ?? [])]) listener.onMessage(text);
      },
      onLost: () => {
        if (isInUse) void this.#reopen();
        isInUse = false;
      },
    });
    const opened = line.opened.then(async () => {
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) await line.subscribe(channels);
      isInUse = true;
      if (this.#wasOpen) this.#tellGap();
      this.#wasOpen = true;
      void this.#watch(line);
    });
    return resubscribed(line, opened);
  }

  #tellGap(): void {
    for (const listeners of [...this.#listeners.values()])
      for (const listener of [...listeners]) listener.onGap();
  }

  async #reopen(): Promise<void> {
    while (!this.#keeper.isClosed && this.#listeners.size > 0) {
      try {
        await this.#keeper.use(async () => undefined);
        return;
      } catch {
        // The keeper pauses before the next attempt.
      }
    }
  }

  /** A subscriber is never asked anything, so it would not notice that the server is gone. */
  async #watch(line: SubscriberLine): Promise<void> {
    const { silenceMs, connectMs } = this.#timing;
    for (;;) {
      await sleep(silenceMs, this.#closing.signal);
      if (this.#keeper.isClosed || !line.isOpen) return;
      try {
        await withDeadline(
          () => line.ping(),
          connectMs,
          () => new Error("no answer"),
        );
      } catch {
        return line.drop();
      }
    }
  }
}

/** The line, open only once it has the subscriptions of the one before it. */
function resubscribed(line: SubscriberLine, opened: Promise<void>): SubscriberLine {
  return {
    opened,
    get isOpen() {
      return line.isOpen;
    },
    subscribe: (channels) => line.subscribe(channels),
    unsubscribe: (channel) => line.unsubscribe(channel),
    ping: () => line.ping(),
    drop: () => line.drop(),
  };
}
