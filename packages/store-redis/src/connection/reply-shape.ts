import { type StoreError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import type { RedisReply } from "./client-adapter.js";

/**
 * Tells whether a reply is one that a script or command can give.
 *
 * A proxy, a command renamed to another one or a script of an earlier release may answer something else, which must not be
 * taken for stored data.
 */
export type ReplyShape = (reply: RedisReply | undefined) => boolean;

export const isText: ReplyShape = (reply) => typeof reply === "string";
export const isNumber: ReplyShape = (reply) => typeof reply === "number";
export const isNull: ReplyShape = (reply) => reply === null;
export const isTextOrNull: ReplyShape = (reply) => isText(reply) || isNull(reply);
/** For scripts and commands whose reply is not read. */
export const anyReply: ReplyShape = () => true;

/** One of these texts. */
export function textIn(...texts: readonly string[]): ReplyShape {
  return (reply) => typeof reply === "string" && texts.includes(reply);
}

/** A text that matches. */
export function textLike(pattern: RegExp): ReplyShape {
  return (reply) => typeof reply === "string" && pattern.test(reply);
}

/** A list of any length, or of this one. */
export function listOf(each: ReplyShape, length?: number): ReplyShape {
  return (reply) =>
    Array.isArray(reply) &&
    (length === undefined || reply.length === length) &&
    (reply as readonly RedisReply[]).every(each);
}

/** A list with a place for each shape. */
export function tuple(...shapes: readonly ReplyShape[]): ReplyShape {
  return (reply) =>
    Array.isArray(reply) &&
    reply.length === shapes.length &&
    shapes.every((shape, at) => shape(reply[at]));
}

/** Any of these shapes. */
export function either(...shapes: readonly ReplyShape[]): ReplyShape {
  return (reply) => shapes.some((shape) => shape(reply));
}

/** A list that begins with a word, which says what follows. */
export function verdict(word: string, ...rest: readonly ReplyShape[]): ReplyShape {
  return tuple(textIn(word), ...rest);
}

/** A command or script that was answered. */
export interface Answered {
  /** For errors: what was attempted. */
  readonly what: string;
  /** For errors: `HMGET`, or `script load`. */
  readonly command: string;
  readonly writes: boolean;
  readonly shape: ReplyShape;
}

/**
 * Returns a reply that has the shape.
 *
 * @throws StoreUnavailableError for a read, UnknownOutcomeError for a write, that was answered with anything else
 */
export function checkReply(
  reply: RedisReply,
  { what, command, writes, shape }: Answered,
): RedisReply {
  if (shape(reply)) return reply;
  throw unexpectedReply(what, command, writes);
}

function unexpectedReply(what: string, command: string, writes: boolean): StoreError {
  const problem = `${what} failed: Redis answered ${command} with a reply that it does not have`;
  const advice = "check proxies and renamed commands between this process and the server";
  return writes
    ? new UnknownOutcomeError(`${problem}; it may have been applied, ${advice}`)
    : new StoreUnavailableError(`${problem}; ${advice}`);
}
