import {
  InvalidInputError,
  type JsonObject,
  type Message,
  type Revision,
  type SessionInfo,
  type Slot,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { type CallRecord, checkLogDraft, checkSlot, type LogDraft } from "@holdfast/core/store-kit";

/**
 * Line of an exported session in NDJSON. The order is: one header, the messages of the context, the records of the log, one
 * end. Several sessions may follow each other.
 */
export type SessionLine = SessionHeader | MessageLine | RecordLine | SessionEnd;

/** First line of a session. */
export interface SessionHeader {
  readonly type: "session";
  readonly v: 1;
  readonly slot: Slot;
  /** Null, as `head` is, for a session with a log and no state. */
  readonly revision: Revision | null;
  readonly head: JsonObject | null;
  /** Newest first; absent when there are none. */
  readonly callRecords?: readonly CallRecord[] | undefined;
  /** Facts for listings; absent when there are none. */
  readonly info?: SessionInfo | undefined;
  /** The size of the log is known at its end: see {@link SessionEnd}. */
  readonly counts: { readonly messages: number };
}

/** Message of the context. */
export interface MessageLine {
  readonly type: "message";
  readonly message: Message;
}

/** Record of the log, including its long texts. */
export interface RecordLine {
  readonly type: "record";
  readonly record: LogDraft;
}

/** Last line of a session, with its counts and hash. */
export interface SessionEnd {
  readonly type: "end";
  readonly counts: {
    readonly messages: number;
    readonly records: number;
    readonly blobs: number;
    readonly bytes: number;
  };
  /** Same as in `SessionSummary`. */
  readonly sha256: string;
}

const REVISION = /^(0|[1-9]\d{0,15})\.[0-9a-f]{32}$/;

/**
 * Parses a line.
 *
 * @param number - line number, for the error
 * @throws InvalidInputError when it is invalid; the message names the line and never quotes it
 */
export function parseSessionLine(text: string, number: number): SessionLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which must stay out of errors.
    throw refusal(number, "is not JSON; is the file cut short?");
  }
  if (!isRecord(value)) throw refusal(number, "is not an object");
  const problem = problemOf(value);
  if (problem !== null) throw refusal(number, problem);
  return value as unknown as SessionLine;
}

function problemOf(line: Record<string, unknown>): string | null {
  switch (line["type"]) {
    case "session":
      return headerProblem(line);
    case "message":
      return isMessage(line["message"]) ? null : "has no valid message";
    case "record":
      return isDraft(line["record"]) ? null : "has no valid log record";
    case "end":
      return typeof line["sha256"] === "string" && isRecord(line["counts"])
        ? null
        : "has no counts and hash";
    default:
      return "is not a session, message, record or end";
  }
}

function headerProblem(line: Record<string, unknown>): string | null {
  const { v, slot, revision, head, callRecords = [], info = {} } = line;
  if (v !== 1) return "has a version other than 1; update @holdfast/cli";
  if (!isSlot(slot)) return "names no session";
  if (revision === null && head === null) return null;
  if (typeof revision !== "string" || !REVISION.test(revision)) return "has no valid revision";
  if (!isRecord(head)) return "has no head";
  if (!Array.isArray(callRecords) || !callRecords.every(isCallRecord))
    return "has call records that are none";
  return isRecord(info) ? null : "has facts that are no object";
}

function isCallRecord(value: unknown): boolean {
  return isRecord(value) && typeof value["callId"] === "string";
}

function isSlot(value: unknown): boolean {
  try {
    return (
      isRecord(value) && checkSlot(value as unknown as Parameters<typeof checkSlot>[0]) !== null
    );
  } catch {
    return false;
  }
}

function isMessage(value: unknown): boolean {
  return isRecord(value) && typeof value["id"] === "string" && Array.isArray(value["content"]);
}

function isDraft(value: unknown): boolean {
  try {
    if (!isRecord(value) || "seq" in value || "blobs" in value) return false;
    checkLogDraft(value as unknown as Parameters<typeof checkLogDraft>[0]);
    return true;
  } catch {
    return false;
  }
}

function refusal(number: number, problem: string): InvalidInputError {
  return new InvalidInputError(`line ${number} ${problem}`);
}
