import type { Script } from "./script.js";

/** What Redis answers: strings, integers, null, and lists of these. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** How one script or command is run. */
export interface RunOptions {
  /** Longest time until it ends, one way or the other. @default the connection's `commandTimeoutMs` */
  readonly deadlineMs?: number | undefined;
  /**
   * The write is acknowledged only once this many replicas have it (`WAIT`, sent right behind the script on the same
   * connection). Fewer in time: `UnknownOutcomeError`, and repeating the write asks them again, also when it finds that
   * it was made before. Such writes have a connection of their own, which WAIT blocks, and are in order among themselves.
   */
  readonly minReplicas?: number | undefined;
  /**
   * Which replies say that the write was made; others, such as a conflict, are given back whatever replicas have.
   * @default all
   */
  readonly wrote?: ((reply: RedisReply) => boolean) | undefined;
}

/** Ends a subscription; idempotent. */
export interface ChannelSubscription {
  close(): Promise<void>;
}

/** What a subscriber is told. */
export interface ChannelListener {
  onMessage(text: string): void;
  /** The connection was lost and is back: messages may have been missed in between, so look for yourself. */
  onGap(): void;
}

/**
 * The few things this package wants of Redis, whatever client is behind them.
 *
 * Contract:
 * - It works on connections of its own, made from the caller's client with safe options; the caller's client is a recipe
 *   and is neither used for commands nor closed. They are made when first needed and end with `close`, or when the
 *   caller's client ends.
 * - Everything ends within its deadline, with a reply or a `StoreError`. While the connection is down or a failover is
 *   going on, it is tried again within the deadline: scripts and commands may be repeated. A write that may have reached
 *   the server ends as `UnknownOutcomeError`, one that certainly did not, and every read, as `StoreUnavailableError`.
 * - Commands of one caller on one hash tag reach the server in the order in which they were given. The exceptions: a
 *   command that had to be repeated, and the first run of a script that the server does not know yet, may arrive behind
 *   later ones.
 * - Errors never carry keys, arguments or addresses.
 */
export interface RedisConnection {
  /** @param what - for errors: what is attempted, for example `saving session "s" of user "u"` */
  run(
    what: string,
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options?: RunOptions,
  ): Promise<RedisReply>;
  /** One plain command that may be repeated, routed by the first of `args`, which is its key. */
  send(
    what: string,
    command: string,
    args: readonly (string | number)[],
    options?: RunOptions & { readonly writes?: boolean },
  ): Promise<RedisReply>;
  /** Resolves once messages arrive. One connection serves all subscriptions. */
  subscribe(channel: string, listener: ChannelListener): Promise<ChannelSubscription>;
  close(): Promise<void>;
}
