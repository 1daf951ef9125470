import type {
  CommandWords,
  Line,
  LineTiming,
  Link,
  SubscriberEvents,
  SubscriberLine,
} from "./line.js";
import type { RedisReply } from "./redis-connection.js";
import { SilenceWatch } from "./silence-watch.js";

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

/** Connections like those of a client of `redis` (node-redis). */
export class NodeRedisLink implements Link {
  readonly #client: NodeRedis;
  /** Such a client looks the same before it was connected and after it was closed. */
  readonly hasEnded = false;

  constructor(client: NodeRedis) {
    this.#client = client;
  }

  onEnd(callback: () => void): () => void {
    this.#client.on("end", callback);
    return () => this.#client.off("end", callback);
  }

  openLine(timing: LineTiming): Line {
    return new NodeRedisLine(this.#duplicate(timing), timing);
  }

  openSubscriber(timing: LineTiming, events: SubscriberEvents): SubscriberLine {
    return new NodeRedisSubscriberLine(this.#duplicate(timing), events);
  }

  #duplicate(timing: LineTiming): NodeRedis {
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
      // Replies have one form on every server, and are strings.
      RESP: 2,
      commandOptions: { timeout: undefined, typeMapping: undefined },
      clientSideCache: undefined,
      emitInvalidate: undefined,
      maintNotifications: "disabled",
      disableClientInfo: true,
    });
  }
}

class NodeRedisLine implements Line {
  readonly opened: Promise<void>;
  readonly #client: NodeRedis;
  readonly #watch: SilenceWatch;

  constructor(client: NodeRedis, { silenceMs }: LineTiming) {
    this.#client = client;
    this.#watch = new SilenceWatch(silenceMs, () => this.drop());
    this.opened = open(client);
  }

  get isOpen(): boolean {
    return this.#client.isReady;
  }

  send(words: CommandWords): Promise<RedisReply> {
    return this.#watch.await(this.#client.sendCommand(words.map(String)) as Promise<RedisReply>);
  }

  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]> {
    return Promise.all(all.map((words) => this.send(words).catch((error: Error) => error)));
  }

  drop(): void {
    drop(this.#client);
  }
}

class NodeRedisSubscriberLine implements SubscriberLine {
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
  // Without a listener an error would end the process; what it means is told by the commands that fail.
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
