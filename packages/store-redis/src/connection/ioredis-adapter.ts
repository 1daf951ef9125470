import type {
  ClientAdapter,
  CommandConnection,
  CommandWords,
  Connection,
  ConnectionTiming,
  RedisReply,
  SubscriberConnection,
  SubscriberEvents,
} from "./client-adapter.js";

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

/** Opens connections with the settings of an ioredis `Redis`, with or without sentinels. */
export class IoredisAdapter implements ClientAdapter {
  readonly isCluster = false;
  readonly #client: Ioredis;

  constructor(client: Ioredis) {
    this.#client = client;
  }

  get hasEnded(): boolean {
    return this.#client.status === "end";
  }

  onEnd(callback: () => void): () => void {
    this.#client.on("end", callback);
    return () => this.#client.off("end", callback);
  }

  openCommands(timing: ConnectionTiming): CommandConnection {
    return new IoredisCommands(this.#duplicate(timing));
  }

  openSubscriber(timing: ConnectionTiming, events: SubscriberEvents): SubscriberConnection {
    return new IoredisSubscriber(this.#duplicate(timing), events);
  }

  #duplicate(timing: ConnectionTiming): Ioredis {
    const { sentinels } = this.#client.options;
    return this.#client.duplicate({
      ...ioredisOptions(timing),
      ...(Array.isArray(sentinels) ? sentinelOptions : {}),
    });
  }
}

abstract class IoredisConnection implements Connection {
  abstract readonly opened: Promise<void>;
  protected readonly redis: Ioredis;
  #isDropped = false;

  constructor(redis: Ioredis) {
    this.redis = redis;
  }

  get isOpen(): boolean {
    return !this.#isDropped && this.redis.status === "ready";
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.redis.disconnect();
  }
}

class IoredisCommands extends IoredisConnection implements CommandConnection {
  readonly opened: Promise<void>;

  constructor(redis: Ioredis) {
    super(redis);
    this.opened = openIoredis(redis).then(() => selectDatabase(redis));
  }

  send(words: CommandWords): Promise<RedisReply> {
    return this.redis.call(...words) as Promise<RedisReply>;
  }

  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]> {
    return Promise.all(all.map((words) => this.send(words).catch((error: Error) => error)));
  }
}

/** A subscriber on one connection of ioredis. */
export class IoredisSubscriber extends IoredisConnection implements SubscriberConnection {
  readonly opened: Promise<void>;

  constructor(redis: Ioredis, events: SubscriberEvents) {
    super(redis);
    redis.on("message", (channel: string, text: string) => events.onMessage(channel, text));
    redis.on("end", () => events.onLost());
    this.opened = openIoredis(redis);
  }

  subscribe(channels: readonly string[]): Promise<unknown> {
    return this.redis.subscribe(...channels);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.redis.unsubscribe(channel);
  }

  ping(): Promise<unknown> {
    return this.redis.call("PING");
  }
}

/** Selects it again: ioredis continues in database 0 when the server refuses the one that was asked for. */
async function selectDatabase(redis: Ioredis): Promise<void> {
  const { db } = redis.options;
  if (db !== undefined && Number(db) !== 0) await redis.call("SELECT", Number(db));
}

/**
 * Connects.
 *
 * @throws the reason of a failure, which ioredis reports only by an event
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

/**
 * Options in which our connections differ from the caller's client. They never reconnect or repeat by themselves (a new one
 * is made instead), so a command written on one connection is never answered by another.
 */
export function ioredisOptions(timing: ConnectionTiming): Record<string, unknown> {
  return {
    lazyConnect: true,
    connectTimeout: timing.connectMs,
    // The only bound ioredis has for a server that is wedged while its socket stays open.
    socketTimeout: timing.silenceMs,
    commandTimeout: undefined,
    blockingTimeout: undefined,
    disconnectTimeout: 100,
    keepAlive: 5_000,
    noDelay: true,
    retryStrategy: null,
    reconnectOnError: null,
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    // "LOADING" is a reply that is retried, and INFO may be forbidden.
    enableReadyCheck: false,
    disableClientInfo: true,
    monitor: false,
    readOnly: false,
    stringNumbers: false,
    // Replies have the same form on every server.
    protocol: 2,
    replyMapping: "legacy",
    himportFieldsets: undefined,
    scripts: undefined,
  };
}

/** Further options of clients with sentinels: always the master, with a short wait for each sentinel. */
const sentinelOptions: Readonly<Record<string, unknown>> = {
  role: "master",
  sentinelRetryStrategy: null,
  sentinelCommandTimeout: 500,
  // It would print the errors of sentinels that are down.
  failoverDetector: false,
  // INFO tells whether an outdated sentinel named a replica.
  enableReadyCheck: true,
};
