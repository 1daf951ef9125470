import { randomUUID } from "node:crypto";
import type { ChannelSubscription, RedisConnection } from "../connection/redis-connection.js";

/** Addressee of messages to a token: a claim on a slot, or a listener. */
export interface Receiver {
  /** Its turn may have come, or a message to it may have been missed. */
  wake(): void;
  /** Takes a signal: its id, by which a repeated one is recognised, and its JSON. */
  hear(id: string, text: string): void;
}

/**
 * The one channel on which other processes reach this one.
 *
 * Messages only make things quick: whatever they announce is also found by asking, so a lost one costs time and nothing else.
 */
export class NodeChannel {
  readonly name: string;
  readonly #connection: RedisConnection;
  readonly #receivers = new Map<string, Receiver>();
  #subscription: Promise<ChannelSubscription> | undefined;
  #isListening = false;

  constructor(connection: RedisConnection, keyPrefix: string) {
    this.#connection = connection;
    this.name = `${keyPrefix}v1:node:${randomUUID()}`;
  }

  /** True once messages arrive, from the first call of this process on. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Resolves once messages arrive, before which nobody may learn a token. */
  async listen(): Promise<void> {
    this.#subscription ??= this.#subscribe();
    await this.#subscription;
    this.#isListening = true;
  }

  /** Passes messages to `token` on to `receiver`. */
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
          for (const receiver of [...this.#receivers.values()]) receiver.wake();
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
    if (kind === "wake") receiver?.wake();
    else if (kind === "signal") receiver?.hear(id, text.join("\n"));
  }
}
