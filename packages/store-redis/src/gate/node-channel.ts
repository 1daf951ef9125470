import { randomUUID } from "node:crypto";
import type { ChannelSubscription, RedisConnection } from "../connection/redis-connection.js";

/** Somebody of this process who is addressed by a token: a lease, a place in line, a listener. */
export interface Receiver {
  /** It may be its turn. */
  onWake(): void;
  onSignal(id: string, text: string): void;
  /** Messages may have been missed. */
  onGap(): void;
}

/**
 * The one channel on which other processes reach this one.
 *
 * Messages only make things quick: whatever they say is also found by looking, so one that is lost costs time and nothing
 * else.
 */
export class NodeChannel {
  readonly name: string;
  readonly #connection: RedisConnection;
  readonly #receivers = new Map<string, Receiver>();
  #subscription: Promise<ChannelSubscription> | undefined;

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.name = `${keyPrefix}v1:node:${randomUUID()}`;
  }

  /** Resolves once messages arrive; to be awaited before the first token of this process is made known. */
  ready(): Promise<unknown> {
    this.#subscription ??= this.#subscribe();
    return this.#subscription;
  }

  /** From now on messages to `token` go to `receiver`. */
  receive(token: string, receiver: Receiver): void {
    this.#receivers.set(token, receiver);
  }

  forget(token: string): void {
    this.#receivers.delete(token);
  }

  async close(): Promise<void> {
    this.#receivers.clear();
    const subscription = await this.#subscription?.catch(() => undefined);
    await subscription?.close();
  }

  async #subscribe(): Promise<ChannelSubscription> {
    try {
      return await this.#connection.subscribe(this.name, {
        onMessage: (text) => this.#dispatch(text),
        onGap: () => {
          for (const receiver of [...this.#receivers.values()]) receiver.onGap();
        },
      });
    } catch (error) {
      this.#subscription = undefined;
      throw error;
    }
  }

  #dispatch(message: string): void {
    const [kind, token = "", id = "", ...text] = message.split("\n");
    const receiver = this.#receivers.get(token);
    if (kind === "wake") receiver?.onWake();
    else if (kind === "signal") receiver?.onSignal(id, text.join("\n"));
  }
}
