import type {
  ClientAdapter,
  CommandConnection,
  CommandWords,
  ConnectionTiming,
  RedisReply,
  SubscriberConnection,
  SubscriberEvents,
} from "./client-adapter.js";
import { type Ioredis, IoredisSubscriber, ioredisOptions, openIoredis } from "./ioredis-adapter.js";

/** The part of ioredis' `Cluster` that is used here. */
export interface IoredisCluster
  extends Pick<Ioredis, "status" | "connect" | "call" | "disconnect" | "on" | "off"> {
  nodes(role: "master" | "all"): Ioredis[];
  pipeline(commands: (string | number)[][]): { exec(): Promise<[Error | null, unknown][]> };
  refreshSlotsCache(): void;
  duplicate(startupNodes: never[], options: Record<string, unknown>): IoredisCluster;
}

/** Opens connections with the settings of an ioredis `Cluster`. */
export class IoredisClusterAdapter implements ClientAdapter {
  readonly isCluster = true;
  readonly #client: IoredisCluster;

  constructor(client: IoredisCluster) {
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
    return new ClusterCommands(this.#duplicate(timing));
  }

  openSubscriber(timing: ConnectionTiming, events: SubscriberEvents): SubscriberConnection {
    return new ClusterSubscriber(this.#duplicate(timing), timing, events);
  }

  #duplicate(timing: ConnectionTiming): IoredisCluster {
    return this.#client.duplicate([], {
      lazyConnect: true,
      clusterRetryStrategy: null,
      clusterNodeRetryStrategy: null,
      // A node that is still connecting is waited for, which keeps the order of commands.
      enableOfflineQueue: true,
      // "CLUSTERDOWN" is a reply that is retried.
      enableReadyCheck: false,
      enableAutoPipelining: false,
      scaleReads: "master",
      maxRedirections: 16,
      retryDelayOnMoved: 0,
      retryDelayOnTryAgain: 50,
      // Only redirections are followed: this package decides whether to repeat a command whose connection was lost.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: 500,
      slotsRefreshInterval: undefined,
      shardedSubscribers: false,
      himportFieldsets: undefined,
      scripts: undefined,
      redisOptions: ioredisOptions(timing),
    });
  }
}

class ClusterCommands implements CommandConnection {
  readonly opened: Promise<void>;
  readonly #cluster: IoredisCluster;

  constructor(cluster: IoredisCluster) {
    this.#cluster = cluster;
    this.opened = openIoredis(cluster);
  }

  get isOpen(): boolean {
    return this.#cluster.status === "ready";
  }

  send(words: CommandWords): Promise<RedisReply> {
    return this.#cluster.call(...words) as Promise<RedisReply>;
  }

  async sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]> {
    const commands = all.map((words) => ["call", ...words]);
    const answers = await this.#cluster.pipeline(commands).exec();
    // The client follows redirections of single commands only; a pipeline needs a new slot map.
    if (answers.some(([error]) => error !== null)) this.#cluster.refreshSlotsCache();
    return answers.map(([error, reply]) => error ?? (reply as RedisReply));
  }

  drop(): void {
    this.#cluster.disconnect();
  }
}

/** Subscribes on one connection to any node: every node of a cluster gets every message. */
class ClusterSubscriber implements SubscriberConnection {
  readonly opened: Promise<void>;
  readonly #events: SubscriberEvents;
  #connection: IoredisSubscriber | undefined;
  #isDropped = false;

  constructor(cluster: IoredisCluster, timing: ConnectionTiming, events: SubscriberEvents) {
    this.#events = events;
    this.opened = this.#open(cluster, timing);
  }

  get isOpen(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  subscribe(channels: readonly string[]): Promise<unknown> {
    return this.#opened.subscribe(channels);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#opened.unsubscribe(channel);
  }

  ping(): Promise<unknown> {
    return this.#opened.ping();
  }

  drop(): void {
    this.#isDropped = true;
    this.#connection?.drop();
  }

  get #opened(): IoredisSubscriber {
    if (this.#connection === undefined) throw new Error("The connection is not open");
    return this.#connection;
  }

  async #open(cluster: IoredisCluster, timing: ConnectionTiming): Promise<void> {
    try {
      await openIoredis(cluster);
      const nodes = cluster.nodes("master");
      const node = nodes[Math.floor(Math.random() * nodes.length)];
      if (node === undefined || this.#isDropped) throw new Error("No node of the cluster is known");
      this.#connection = new IoredisSubscriber(
        node.duplicate(ioredisOptions(timing)),
        this.#events,
      );
    } finally {
      cluster.disconnect();
    }
    await this.#connection.opened;
  }
}
