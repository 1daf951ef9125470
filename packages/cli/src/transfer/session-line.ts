import {
  checkLogDraft,
  checkSlot,
  InvalidInputError,
  isRecord,
  type JsonObject,
  type LogDraft,
  type Message,
  type Revision,
  type Slot,
} from "@holdfast/core";

/**
 * A session as lines of NDJSON, for files and pipes. In this order: one header, the messages of the context, the records
 * of the log, one end. Several sessions may follow each other.
 */
export type SessionLine = SessionHeader | MessageLine | RecordLine | SessionEnd;

/** Begins a session. */
export interface SessionHeader {
  readonly type: "session";
  readonly v: 1;
  readonly slot: Slot;
  /** Null, with `head`, for a session that has a log and no state. */
  readonly revision: Revision | null;
  readonly head: JsonObject | null;
  /** What a log holds is known at its end: see {@link SessionEnd}. */
  readonly counts: { readonly messages: number };
}

/** A message of the context. */
export interface MessageLine {
  readonly type: "message";
  readonly message: Message;
}

/** A record of the log, whole: its long texts are in it. */
export interface RecordLine {
  readonly type: "record";
  readonly record: LogDraft;
}

/** Ends a session, and says what it must have amounted to. */
export interface SessionEnd {
  readonly type: "end";
  readonly counts: {
    readonly messages: number;
    readonly records: number;
    readonly blobs: number;
    readonly bytes: number;
  };
  /** As `SessionSummary` has it. */
  readonly sha256: string;
}

const REVISION = /^(0|[1-9]\d{0,15})\.[0-9a-f]{32}$/;

/**
 * The line in a text.
 *
 * @param number - of the line, for the error
 * @throws InvalidInputError when it is none; the message names the line and never shows it
 */
export function parseSessionLine(text: string, number: number): SessionLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
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
      return isMessage(line["message"]) ? null : "holds no message";
    case "record":
      return isDraft(line["record"]) ? null : "holds no record of a log";
    case "end":
      return typeof line["sha256"] === "string" && isRecord(line["counts"])
        ? null
        : "does not say what the session amounts to";
    default:
      return "is none of session, message, record and end";
  }
}

function headerProblem({ v, slot, revision, head }: Record<string, unknown>): string | null {
  if (v !== 1) return "is of another version than 1; update @holdfast/cli";
  if (!isSlot(slot)) return "names no session";
  if (revision === null && head === null) return null;
  if (typeof revision !== "string" || !REVISION.test(revision)) return "has no valid revision";
  return isRecord(head) ? null : "has no head";
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
