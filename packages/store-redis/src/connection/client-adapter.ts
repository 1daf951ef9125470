/** A reply of Redis: strings, integers, null, and lists of these. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** A command with its arguments, as it is written. */
export type CommandWords = readonly [string, ...(string | number)[]];

/** A connection to the server: opened once, used until it is lost, and never reopened. */
export interface Connection {
  /** Resolves once it may be used; rejects when connecting failed. */
  readonly opened: Promise<void>;
  readonly isOpen: boolean;
  /** Closes it; commands without a reply fail. Idempotent. */
  drop(): void;
}

/**
 * A connection for commands: what was written on it is answered on it or not at all. (A `Cluster` counts as one
 * connection: it routes between the nodes itself.)
 */
export interface CommandConnection extends Connection {
  /** Writes at once, in the order of the calls. Rejects with the driver's own error. */
  send(words: CommandWords): Promise<RedisReply>;
  /** Writes all of them back to back on the same socket; each answer is a reply or the driver's error. */
  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]>;
}

/** A connection for messages only. */
export interface SubscriberConnection extends Connection {
  subscribe(channels: readonly string[]): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Resolves with the server's answer, which shows that the socket is alive. */
  ping(): Promise<unknown>;
}

/** Events of a subscriber connection. */
export interface SubscriberEvents {
  onMessage(channel: string, text: string): void;
  /** The connection is lost; no other event follows. */
  onLost(): void;
}

/** Time limits of a connection. */
export interface ConnectionTiming {
  /** Longest time until a connection is made. */
  readonly connectMs: number;
  /** A socket without any reply for this long, while a command waits for one, is given up. */
  readonly silenceMs: number;
}

/** Opens new connections with the settings of the caller's client, which itself is never used or closed. */
export interface ClientAdapter {
  /** True for a cluster, whose nodes must be told every key of a script: slots may be moving while it runs. */
  readonly isCluster: boolean;
  openCommands(timing: ConnectionTiming): CommandConnection;
  openSubscriber(timing: ConnectionTiming, events: SubscriberEvents): SubscriberConnection;
  /** True when the caller's client was ended for good. */
  readonly hasEnded: boolean;
  /** Calls back when the caller's client ends; returns a function that stops watching. */
  onEnd(callback: () => void): () => void;
}
