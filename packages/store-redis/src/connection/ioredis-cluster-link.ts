import { type Ioredis, IoredisSubscriberLine, openIoredis } from "./ioredis-line.js";
import { ioredisOptions } from "./ioredis-options.js";
import type {
  CommandWords,
  Line,
  LineTiming,
  Link,
  SubscriberEvents,
  SubscriberLine,
} from "./line.js";
import type { RedisReply } from "./redis-connection.js";

/** The part of ioredis' `Cluster` that is used here. */
export interface IoredisCluster
  extends Pick<Ioredis, "status" | "connect" | "call" | "disconnect" | "on" | "off"> {
  nodes(role: "master" | "all"): Ioredis[];
  pipeline(commands: (string | number)[][]): { exec(): Promise<[Error | null, unknown][]> };
  refreshSlotsCache(): void;
  duplicate(startupNodes: never[], options: Record<string, unknown>): IoredisCluster;
}

/** Connections like those of an ioredis `Cluster`. */
export class IoredisClusterLink implements Link {
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

  openLine(timing: LineTiming): Line {
    return new IoredisClusterLine(this.#duplicate(timing));
  }

  openSubscriber(timing: LineTiming, events: SubscriberEvents): SubscriberLine {
    return new ClusterSubscriberLine(this.#duplicate(timing), timing, events);
  }

  #duplicate(timing: LineTiming): IoredisCluster {
    return this.#client.duplicate([], {
      lazyConnect: true,
      clusterRetryStrategy: null,
      clusterNodeRetryStrategy: null,
      // A node that is still connecting is waited for, which keeps the order of commands.
      enableOfflineQueue: true,
      // "CLUSTERDOWN" is an answer we know how to wait out.
      enableReadyCheck: false,
      enableAutoPipelining: false,
      scaleReads: "master",
      maxRedirections: 16,
      retryDelayOnMoved: 0,
      retryDelayOnTryAgain: 50,
      // Only redirections are followed: whether a command whose connection was lost is repeated is decided by us.
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

class IoredisClusterLine implements Line {
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
    // The client follows redirections of single commands only; for these, all it needs is a new map.
    if (answers.some(([error]) => error !== null)) this.#cluster.refreshSlotsCache();
    return answers.map(([error, reply]) => error ?? (reply as RedisReply));
  }

  drop(): void {
    this.#cluster.disconnect();
  }
}

/** Every node of a cluster gets every message, so a subscriber is one connection to any of them. */
class ClusterSubscriberLine implements SubscriberLine {
  readonly opened: Promise<void>;
  readonly #events: SubscriberEvents;
  #line: IoredisSubscriberLine | undefined;
  #isDropped = false;

  constructor(cluster: IoredisCluster, timing: LineTiming, events: SubscriberEvents) {
    this.#events = events;
    this.opened = this.#open(cluster, timing);
  }

  get isOpen(): boolean {
    return this.#line?.isOpen ?? false;
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
    this.#line?.drop();
  }

  get #opened(): IoredisSubscriberLine {
    if (this.#line === undefined) throw new Error("The connection is not open");
    return this.#line;
  }

  async #open(cluster: IoredisCluster, timing: LineTiming): Promise<void> {
    try {
      await openIoredis(cluster);
      const nodes = cluster.nodes("master");
      const node = nodes[Math.floor(Math.random() * nodes.length)];
      if (node === undefined || this.#isDropped) throw new Error("No node of the cluster is known");
      this.#line = new IoredisSubscriberLine(node.duplicate(ioredisOptions(timing)), this.#events);
    } finally {
      cluster.disconnect();
    }
    await this.#line.opened;
  }
}
