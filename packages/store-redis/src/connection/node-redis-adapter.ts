import type {
  ClientAdapter,
  CommandConnection,
  CommandWords,
  ConnectionTiming,
  RedisReply,
  SubscriberConnection,
  SubscriberEvents,
} from "./client-adapter.js";

/** The part of a client of `redis` (node-redis) that is used here. */
export interface NodeRedis {
  readonly isReady: boolean;
  readonly options: { readonly socket?: object | undefined } | undefined;
  connect(): Promise<unknown>;
  sendCommand(words: readonly string[]): Promise<unknown>;
  subscribe(
    channels: readonly string[],
    listener: (text: string, channel: string) => void,
  ): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  destroy(): void;
  duplicate(options: Record<string, unknown>): NodeRedis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
}

/** Opens connections with the settings of a client of `redis` (node-redis). */
export class NodeRedisAdapter implements ClientAdapter {
  readonly isCluster = false;
  readonly #client: NodeRedis;
  /** Unknown: such a client looks the same before it was connected and after it was closed. */
  readonly hasEnded = false;

  constructor(client: NodeRedis) {
    this.#client = client;
  }

  onEnd(callback: () => void): () => void {
    this.#client.on("end", callback);
    return () => this.#client.off("end", callback);
  }

  openCommands(timing: ConnectionTiming): CommandConnection {
    return new NodeRedisCommands(this.#duplicate(timing), timing);
  }

  openSubscriber(timing: ConnectionTiming, events: SubscriberEvents): SubscriberConnection {
    return new NodeRedisSubscriber(this.#duplicate(timing), events);
  }

  #duplicate(timing: ConnectionTiming): NodeRedis {
    return this.#client.duplicate({
      // Never reconnects by itself: a new connection is made instead.
      socket: {
        ...this.#client.options?.socket,
        connectTimeout: timing.connectMs,
        socketTimeout: undefined,
        reconnectStrategy: false,
        keepAlive: true,
        keepAliveInitialDelay: 5_000,
        noDelay: true,
      },
      disableOfflineQueue: true,
      commandsQueueMaxLength: undefined,
      pingInterval: undefined,
      readonly: false,
      // Replies have the same form on every server, and are strings.
      RESP: 2,
      commandOptions: { timeout: undefined, typeMapping: undefined },
      clientSideCache: undefined,
      emitInvalidate: undefined,
      maintNotifications: "disabled",
      disableClientInfo: true,
    });
  }
}

class NodeRedisCommands implements CommandConnection {
  readonly opened: Promise<void>;
  readonly #client: NodeRedis;
  readonly #silence: SilenceWatch;

  constructor(client: NodeRedis, { silenceMs }: ConnectionTiming) {
    this.#client = client;
    this.#silence = new SilenceWatch(silenceMs, () => this.drop());
    this.opened = open(client);
  }

  get isOpen(): boolean {
    return this.#client.isReady;
  }

  send(words: CommandWords): Promise<RedisReply> {
    return this.#silence.watch(this.#client.sendCommand(words.map(String)) as Promise<RedisReply>);
  }

  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]> {
    return Promise.all(all.map((words) => this.send(words).catch((error: Error) => error)));
  }

  drop(): void {
    drop(this.#client);
  }
}

class NodeRedisSubscriber implements SubscriberConnection {
  readonly opened: Promise<void>;
  readonly #client: NodeRedis;
  readonly #events: SubscriberEvents;

  constructor(client: NodeRedis, events: SubscriberEvents) {
    this.#client = client;
    this.#events = events;
    client.on("error", () => events.onLost());
    this.opened = open(client);
  }

  get isOpen(): boolean {
    return this.#client.isReady;
  }

  subscribe(channels: readonly string[]): Promise<unknown> {
    return this.#client.subscribe(channels, this.#onMessage);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#client.unsubscribe(channel);
  }

  ping(): Promise<unknown> {
    return this.#client.sendCommand(["PING"]);
  }

  drop(): void {
    drop(this.#client);
    this.#events.onLost();
  }

  // One function for all channels: the client keeps a set of them for each.
  readonly #onMessage = (text: string, channel: string): void => {
    this.#events.onMessage(channel, text);
  };
}

async function open(client: NodeRedis): Promise<void> {
  // Without a listener an error would end the process; the commands that fail report what it means.
  client.on("error", () => undefined);
  await client.connect();
}

function drop(client: NodeRedis): void {
  try {
    client.destroy();
  } catch {
    // It was never open, or is closed already.
  }
}

/**
 * Calls back when replies are outstanding and none has arrived for a while.
 *
 * Writes do not reset it: those to a wedged server succeed until the buffers of the socket are full.
 */
class SilenceWatch {
  readonly #silenceMs: number;
  readonly #onSilence: () => void;
  #outstanding = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(silenceMs: number, onSilence: () => void) {
    this.#silenceMs = silenceMs;
    this.#onSilence = onSilence;
  }

  async watch<T>(reply: Promise<T>): Promise<T> {
    if (++this.#outstanding === 1) this.#timer = setTimeout(this.#onSilence, this.#silenceMs);
    try {
      return await reply;
    } finally {
      if (--this.#outstanding === 0) clearTimeout(this.#timer);
      else this.#timer?.refresh();
    }
  }
}
