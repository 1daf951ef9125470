import { evaluate, evaluateReplicated } from "./evaluate.js";
import type { Line, LineTiming, Link } from "./line.js";
import { LineKeeper } from "./line-keeper.js";
import type {
  ChannelListener,
  ChannelSubscription,
  RedisConnection,
  RedisReply,
  RunOptions,
} from "./redis-connection.js";
import { runWithin } from "./run-within.js";
import type { Script } from "./script.js";
import { Subscriptions } from "./subscriptions.js";

/** A {@link RedisConnection} over the connections of one link. */
export class LinkedConnection implements Omit<RedisConnection, "close"> {
  readonly #commandTimeoutMs: number;
  readonly #timing: LineTiming;
  readonly #commands: LineKeeper<Line>;
  // WAIT holds up everything behind it on its connection, so others do not share it.
  readonly #replicated: LineKeeper<Line>;
  readonly #subscriptions: Subscriptions;
  readonly #stopWatching: () => void;

  constructor(link: Link, commandTimeoutMs: number) {
    this.#commandTimeoutMs = commandTimeoutMs;
    this.#timing = timingFor(commandTimeoutMs);
    const open = (): Line => link.openLine(this.#timing);
    this.#commands = new LineKeeper(open, this.#timing.connectMs);
    this.#replicated = new LineKeeper(open, this.#timing.connectMs);
    this.#subscriptions = new Subscriptions(link, this.#timing);
    this.#stopWatching = link.onEnd(() => this.close());
    if (link.hasEnded) this.close();
  }

  get isClosed(): boolean {
    return this.#commands.isClosed;
  }

  run(
    what: string,
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    options: RunOptions = {},
  ): Promise<RedisReply> {
    const { deadlineMs = this.#commandTimeoutMs, minReplicas: replicas = 0 } = options;
    const { wrote = () => true } = options;
    const call = { script, keys, args };
    const errand = { what, writes: script.writes, deadlineMs };
    if (replicas === 0 || !script.writes)
      return runWithin(this.#commands, { ...errand, exchange: (line) => evaluate(line, call) });
    return runWithin(this.#replicated, {
      ...errand,
      dropLate: true,
      exchange: (line, remainingMs) =>
        evaluateReplicated(line, call, {
          what,
          replicas,
          wrote,
          waitMs: () => this.#waitMs(remainingMs()),
        }),
    });
  }

  send(
    what: string,
    command: string,
    args: readonly (string | number)[],
    options: RunOptions & { readonly writes?: boolean } = {},
  ): Promise<RedisReply> {
    const { deadlineMs = this.#commandTimeoutMs, writes = false } = options;
    return runWithin(this.#commands, {
      what,
      writes,
      deadlineMs,
      exchange: (line) => line.send([command, ...args]),
    });
  }

  subscribe(channel: string, listener: ChannelListener): Promise<ChannelSubscription> {
    return this.#subscriptions.add(channel, listener, this.#commandTimeoutMs);
  }

  /** Ends every connection; what is under way fails. Idempotent. */
  close(): void {
    this.#stopWatching();
    this.#commands.close();
    this.#replicated.close();
    this.#subscriptions.close();
  }

  /** Ends before the deadline and before the silence would be taken for a wedged server; never 0, which is for ever. */
  #waitMs(remainingMs: number): number {
    return Math.max(1, Math.floor(Math.min(remainingMs, this.#timing.silenceMs) * 0.8));
  }
}

/** A wedged server is given up early enough for a second attempt elsewhere within the same deadline. */
function timingFor(commandTimeoutMs: number): LineTiming {
  return {
    connectMs: Math.min(2_000, commandTimeoutMs),
    silenceMs: Math.max(100, Math.floor(commandTimeoutMs * 0.6)),
  };
}
