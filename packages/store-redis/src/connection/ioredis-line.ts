import type { CommandWords, Line, SubscriberEvents, SubscriberLine } from "./line.js";
import type { RedisReply } from "./redis-connection.js";

/** The part of ioredis' `Redis` that is used here. */
export interface Ioredis {
  readonly status: string;
  readonly options: Readonly<Record<string, unknown>>;
  connect(): Promise<void>;
  call(...words: (string | number)[]): Promise<unknown>;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(): void;
  duplicate(options: Record<string, unknown>): Ioredis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
}

/** A line over one connection of ioredis. */
export class IoredisLine implements Line {
  readonly opened: Promise<void>;
  readonly #redis: Ioredis;
  #isDropped = false;

  constructor(redis: Ioredis) {
    this.#redis = redis;
    this.opened = openIoredis(redis).then(() => selectDatabase(redis));
  }

  get isOpen(): boolean {
    return !this.#isDropped && this.#redis.status === "ready";
  }

  send(words: CommandWords): Promise<RedisReply> {
    return this.#redis.call(...words) as Promise<RedisReply>;
  }

  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]> {
    return Promise.all(all.map((words) => this.send(words).catch((error: Error) => error)));
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#redis.disconnect();
  }
}

/** A subscriber over one connection of ioredis. */
export class IoredisSubscriberLine implements SubscriberLine {
  readonly opened: Promise<void>;
  readonly #redis: Ioredis;
  #isDropped = false;

  constructor(redis: Ioredis, events: SubscriberEvents) {
    this.#redis = redis;
    redis.on("message", (channel: string, text: string) => events.onMessage(channel, text));
    redis.on("end", () => events.onLost());
    this.opened = openIoredis(redis);
  }

  get isOpen(): boolean {
    return !this.#isDropped && this.#redis.status === "ready";
  }

  subscribe(channels: readonly string[]): Promise<unknown> {
    return this.#redis.subscribe(...channels);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#redis.unsubscribe(channel);
  }

  ping(): Promise<unknown> {
    return this.#redis.call("PING");
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#redis.disconnect();
  }
}

/** ioredis goes on in the first database when the server refuses the one that was asked for. */
async function selectDatabase(redis: Ioredis): Promise<void> {
  const { db } = redis.options;
  if (db !== undefined && Number(db) !== 0) await redis.call("SELECT", Number(db));
}

/**
 * Connects.
 *
 * @throws the reason when that fails, which ioredis tells by an event only
 */
export async function openIoredis(redis: Pick<Ioredis, "connect" | "on">): Promise<void> {
  let reason: Error | undefined;
  // Without a listener ioredis would print errors.
  redis.on("error", (error: Error) => {
    reason ??= error;
  });
  try {
    await redis.connect();
  } catch (error) {
    throw reason ?? error;
  }
}
