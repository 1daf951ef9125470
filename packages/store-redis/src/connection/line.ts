import type { RedisReply } from "./redis-connection.js";

/** A command with its arguments, as it is written. */
export type CommandWords = readonly [string, ...(string | number)[]];

/** Something that is opened once, used until it is lost, and never comes back. */
export interface Openable {
  /** Resolves once it may be used; rejects when that failed. */
  readonly opened: Promise<void>;
  readonly isOpen: boolean;
  /** Closes it; what is still unanswered fails. Idempotent. */
  drop(): void;
}

/**
 * One connection: what was written on it is answered on it or not at all. (A `Cluster` counts as one: it finds its own
 * way between the nodes.)
 */
export interface Line extends Openable {
  /** Writes at once, in the order of the calls. Rejects with the driver's own error. */
  send(words: CommandWords): Promise<RedisReply>;
  /** Writes all of them back to back on one and the same socket; each answer is a reply or the driver's error. */
  sendTogether(all: readonly CommandWords[]): Promise<readonly (RedisReply | Error)[]>;
}

/** A {@link Line} for messages only. */
export interface SubscriberLine extends Openable {
  subscribe(channels: readonly string[]): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Resolves with the server's answer: shows that the socket is alive. */
  ping(): Promise<unknown>;
}

/** What a subscriber line reports. */
export interface SubscriberEvents {
  onMessage(channel: string, text: string): void;
  /** The line is of no use any more; nothing comes after it. */
  onLost(): void;
}

/** What a driver has to give: new connections like the caller's client. */
export interface Link {
  openLine(timing: LineTiming): Line;
  openSubscriber(timing: LineTiming, events: SubscriberEvents): SubscriberLine;
  /** Whether the caller's client was ended for good. */
  readonly hasEnded: boolean;
  /** Calls back when the caller's client ends; returns how to stop that. */
  onEnd(callback: () => void): () => void;
}

/** How long a line is given. */
export interface LineTiming {
  /** Until a connection is made. */
  readonly connectMs: number;
  /** A socket that answers nothing for this long, though something was asked, is given up. */
  readonly silenceMs: number;
}
