import { StoreUnavailableError } from "@holdfast/core";
import { isNoScript } from "./classify-error.js";
import type {
  ClientAdapter,
  CommandConnection,
  ConnectionTiming,
  RedisReply,
} from "./client-adapter.js";
import { ReconnectingConnection } from "./reconnecting-connection.js";
import { adapterFor, type RedisClient } from "./redis-client.js";
import { writeReplicated } from "./replicated-write.js";
import { anyReply, checkReply, type ReplyShape } from "./reply-shape.js";
import { byHash, bySource, type Script, type ScriptCall } from "./script.js";
import { type ChannelListener, type ChannelSubscription, Subscriptions } from "./subscriptions.js";

export type { RedisReply } from "./client-adapter.js";
export type { ChannelListener, ChannelSubscription } from "./subscriptions.js";

/** Options of one script or command. */
export interface RunOptions {
  /** Longest time until it ends, with or without success. @default the connection's `commandTimeoutMs` */
  readonly deadlineMs?: number | undefined;
  /**
   * The write is acknowledged only once this many replicas have it (`WAIT`, sent right behind the script on the same
   * connection). Fewer in time: `UnknownOutcomeError`, and repeating the write asks them again, also when it finds that
   * it was made before. Such writes have a connection of their own, which WAIT blocks, and are in order among themselves.
   */
  readonly minReplicas?: number | undefined;
  /**
   * Tells the replies that report a write; others, such as a conflict, are returned however few replicas confirm.
   * @default all
   */
  readonly wrote?: ((reply: RedisReply) => boolean) | undefined;
}

/** Options of a plain command. */
export interface SendOptions extends Pick<RunOptions, "deadlineMs"> {
  /** @default false */
  readonly writes?: boolean | undefined;
  /** Replies that it can give. @default any */
  readonly reply?: ReplyShape | undefined;
}

/**
 * Everything this package needs of Redis, with any supported client.
 *
 * Contract:
 * - It works on connections of its own, made with the settings of the caller's client and safe options; the caller's client
 *   is neither used for commands nor closed. They are made when first needed and end with `close`, or when the caller's
 *   client ends.
 * - Everything ends within its deadline, with a reply or a `StoreError`. While the connection is down or a failover is
 *   going on, it is retried within the deadline: scripts and commands may be repeated. A write that may have reached
 *   the server ends as `UnknownOutcomeError`, one that certainly did not, and every read, as `StoreUnavailableError`.
 * - Commands of one caller on one hash tag reach the server in the order in which they were given. The exceptions: a
 *   command that had to be repeated, and the first run of a script that the server does not know yet, may arrive behind
 *   later ones.
 * - A reply that is none of the script's or command's is an error, never a value.
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
  /** Sends one plain command that may be repeated, routed by the first of `args`, which is its key. */
  send(
    what: string,
    command: string,
    args: readonly (string | number)[],
    options?: SendOptions,
  ): Promise<RedisReply>;
  /** Resolves once messages arrive. One connection serves all subscriptions. */
  subscribe(channel: string, listener: ChannelListener): Promise<ChannelSubscription>;
  close(): Promise<void>;
}

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Longest time until a command ends, with or without success. */
  readonly commandTimeoutMs: number;
}

const connections = new WeakMap<RedisClient, Map<number, SharedConnections>>();

/**
 * Returns a connection made with the settings of `client`. Everything built from one client with one timeout shares its
 * sockets; the last to close ends them.
 *
 * @throws ConfigurationError when `client` is not of a supported kind
 */
export function connect(
  client: RedisClient,
  { commandTimeoutMs }: ConnectOptions,
): RedisConnection {
  const ofClient = connections.get(client) ?? new Map<number, SharedConnections>();
  let shared = ofClient.get(commandTimeoutMs);
  if (shared === undefined || shared.isClosed) {
    shared = new SharedConnections(adapterFor(client), commandTimeoutMs);
    connections.set(client, ofClient.set(commandTimeoutMs, shared));
  }
  return new ConnectionHandle(shared);
}

/** The connections of one client: for commands, for writes that replicas confirm, and for messages. */
class SharedConnections {
  readonly commandTimeoutMs: number;
  readonly isCluster: boolean;
  readonly timing: ConnectionTiming;
  readonly commands: ReconnectingConnection<CommandConnection>;
  /** WAIT blocks everything behind it on its connection, so other commands do not use this one. */
  readonly replicated: ReconnectingConnection<CommandConnection>;
  readonly subscriptions: Subscriptions;
  readonly #stopWatching: () => void;
  users = 0;

  constructor(adapter: ClientAdapter, commandTimeoutMs: number) {
    this.commandTimeoutMs = commandTimeoutMs;
    this.isCluster = adapter.isCluster;
    // A wedged server is given up early enough for a second attempt elsewhere within the same deadline.
    const connectMs = Math.min(2_000, commandTimeoutMs);
    const silenceMs = Math.max(100, Math.floor(commandTimeoutMs * 0.6));
    this.timing = { connectMs, silenceMs };
    const open = (): CommandConnection => adapter.openCommands(this.timing);
    this.commands = new ReconnectingConnection(open, connectMs);
    this.replicated = new ReconnectingConnection(open, connectMs);
    this.subscriptions = new Subscriptions(adapter, this.timing);
    this.#stopWatching = adapter.onEnd(() => this.close());
    if (adapter.hasEnded) this.close();
  }

  get isClosed(): boolean {
    return this.commands.isClosed;
  }

  /** Ends every connection; commands under way fail. Idempotent. */
  close(): void {
    this.#stopWatching();
    this.commands.close();
    this.replicated.close();
    this.subscriptions.close();
  }
}

/** One user of shared connections. */
class ConnectionHandle implements RedisConnection {
  readonly #shared: SharedConnections;
  readonly #subscriptions = new Set<ChannelSubscription>();
  #isClosed = false;

  constructor(shared: SharedConnections) {
    this.#shared = shared;
    shared.users++;
  }

  async run(
    what: string,
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options: RunOptions = {},
  ): Promise<RedisReply> {
    const { commandTimeoutMs, isCluster, commands, replicated, timing } = this.#usable(what);
    const {
      deadlineMs = commandTimeoutMs,
      minReplicas: replicas = 0,
      wrote = () => true,
    } = options;
    const { writes } = script;
    const declared = script.derivesKeys && !isCluster ? keys.slice(0, 1) : keys;
    const call = { script, keys: declared, args };
    const command = `script ${script.name}`;
    const answered = { what, command, writes, shape: script.reply };
    if (replicas === 0 || !writes)
      return checkReply(
        await commands.run({
          what,
          writes,
          deadlineMs,
          exchange: (connection) => evaluate(connection, call),
        }),
        answered,
      );
    const reply = await replicated.run({
      what,
      writes,
      deadlineMs,
      dropLate: true,
      exchange: (connection, remainingMs) => {
        // Ends before the deadline and before the silence would look like a wedged server.
        const waitMs = (): number =>
          Math.max(1, Math.floor(Math.min(remainingMs(), timing.silenceMs) * 0.8));
        return writeReplicated(connection, { what, call, replicas, waitMs, wrote });
      },
    });
    return checkReply(reply, answered);
  }

  async send(
    what: string,
    command: string,
    args: readonly (string | number)[],
    options: SendOptions = {},
  ): Promise<RedisReply> {
    const { commandTimeoutMs, commands } = this.#usable(what);
    const { deadlineMs = commandTimeoutMs, writes = false, reply: shape = anyReply } = options;
    const reply = await commands.run({
      what,
      writes,
      deadlineMs,
      exchange: (connection) => connection.send([command, ...args]),
    });
    return checkReply(reply, { what, command, writes, shape });
  }

  async subscribe(channel: string, listener: ChannelListener): Promise<ChannelSubscription> {
    const { subscriptions, commandTimeoutMs } = this.#usable("subscribing to a channel");
    const subscription = await subscriptions.add(channel, listener, commandTimeoutMs);
    if (this.#isClosed) await subscription.close();
    this.#subscriptions.add(subscription);
    return {
      close: async () => {
        this.#subscriptions.delete(subscription);
        await subscription.close();
      },
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (--this.#shared.users === 0) this.#shared.close();
    else for (const subscription of this.#subscriptions) await subscription.close();
  }

  #usable(what: string): SharedConnections {
    if (!this.#isClosed) return this.#shared;
    throw new StoreUnavailableError(
      `${what} failed: the store it belongs to was closed; make a new one`,
    );
  }
}

/** Runs a script by its hash, or by its source where the server does not know it. */
async function evaluate(connection: CommandConnection, call: ScriptCall): Promise<RedisReply> {
  try {
    return await connection.send(byHash(call));
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return await connection.send(bySource(call));
  }
}
