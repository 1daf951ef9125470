import type { JsonObject, Message, Revision, Slot } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";

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
