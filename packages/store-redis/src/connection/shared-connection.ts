import { StoreUnavailableError } from "@holdfast/core";
import type { LinkedConnection } from "./linked-connection.js";
import type {
  ChannelListener,
  ChannelSubscription,
  RedisConnection,
  RedisReply,
  RunOptions,
} from "./redis-connection.js";
import type { Script } from "./script.js";

/** A connection and how many use it. */
export interface Shares {
  readonly connection: LinkedConnection;
  users: number;
}

/** One user's share of a connection; the last to close ends it. */
export class SharedConnection implements RedisConnection {
  readonly #shares: Shares;
  readonly #subscriptions = new Set<ChannelSubscription>();
  #isClosed = false;

  constructor(shares: Shares) {
    this.#shares = shares;
    shares.users++;
  }

  async run(
    what: string,
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: RunOptions,
  ): Promise<RedisReply> {
    return this.#connection(what).run(what, script, keys, args, options);
  }

  async send(
    what: string,
    command: string,
    args: readonly (string | number)[],
    options?: RunOptions & { readonly writes?: boolean },
  ): Promise<RedisReply> {
    return this.#connection(what).send(what, command, args, options);
  }

  async subscribe(channel: string, listener: ChannelListener): Promise<ChannelSubscription> {
    const connection = this.#connection("subscribing to a channel");
    const subscription = await connection.subscribe(channel, listener);
    if (this.#isClosed) await subscription.close();
    this.#subscriptions.add(subscription);
    return {
      close: async () => {
        this.#subscriptions.delete(subscription);
        await subscription.close();
      },
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (--this.#shares.users === 0) this.#shares.connection.close();
    else for (const subscription of this.#subscriptions) await subscription.close();
  }

  #connection(what: string): LinkedConnection {
    if (!this.#isClosed) return this.#shares.connection;
    throw new StoreUnavailableError(
      `${what} failed: the store it belongs to was closed; make a new one`,
    );
  }
}
