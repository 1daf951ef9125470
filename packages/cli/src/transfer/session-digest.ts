import { createHash, type Hash } from "node:crypto";
import type { LogRecord, Revision } from "@holdfast/core";
import type { LoadedState, LogDraft } from "@holdfast/core/store-kit";

/** Counts and hash of a session; equal for equal sessions, whichever store holds them. */
export interface SessionSummary {
  /** Null for a session with a log and no state. */
  readonly revision: Revision | null;
  readonly messages: number;
  readonly records: number;
  /** Id of the last record. */
  readonly lastRecordId: string | null;
  /** References to long texts; one that is used twice counts twice. */
  readonly blobs: number;
  /** Bytes of the canonical texts and the long texts they refer to. */
  readonly bytes: number;
  /** Hash of state and log, in hex. */
  readonly sha256: string;
}

/** Returns the canonical text of a record, without its sequence number, which differs between logs. */
export function recordText(record: LogDraft | LogRecord): string {
  return canonicalText({ ...record, seq: undefined });
}

/** Returns whether two states are equal, whichever stores hold them. */
export function isSameState(a: LoadedState, b: LoadedState): boolean {
  if (a.revision !== b.revision || a.messages.length !== b.messages.length) return false;
  if (canonicalText(a.head) !== canonicalText(b.head)) return false;
  return a.messages.every(
    (message, at) => canonicalText(message) === canonicalText(b.messages[at]),
  );
}

/** Returns whether a copy has the call records and facts of the original, as far as its store keeps and returns them. */
export function isSameBeside(wanted: LoadedState, copy: LoadedState): boolean {
  const { callRecords, info } = copy;
  return (
    (callRecords === undefined ||
      canonicalText(callRecords) === canonicalText(wanted.callRecords ?? [])) &&
    (info === undefined ||
      wanted.info === undefined ||
      canonicalText(info) === canonicalText(wanted.info))
  );
}

/** Computes the summary of a session, piece by piece. */
export class SessionDigest {
  readonly #state: Hash = createHash("sha256");
  readonly #log: Hash = createHash("sha256");
  #revision: Revision | null = null;
  #messages = 0;
  #records = 0;
  #lastRecordId: string | null = null;
  #blobs = 0;
  #bytes = 0;

  get records(): number {
    return this.#records;
  }

  /** Adds the state; once, if there is one. */
  state({ revision, head, messages }: LoadedState): void {
    this.#revision = revision;
    this.#messages = messages.length;
    this.#take(this.#state, revision);
    this.#take(this.#state, canonicalText(head));
    for (const message of messages) this.#take(this.#state, canonicalText(message));
  }

  /**
   * Adds the next record of the log, without its long texts.
   *
   * @returns its canonical text
   */
  record(record: LogRecord | (LogDraft & Pick<LogRecord, "blobs">)): string {
    const text = recordText(record);
    this.#records++;
    this.#lastRecordId = record.id;
    for (const { bytes } of record.blobs ?? []) {
      this.#blobs++;
      this.#bytes += bytes;
    }
    this.#take(this.#log, text);
    return text;
  }

  /** Returns the summary so far; more may follow. */
  summary(): SessionSummary {
    const parts = [this.#state, this.#log].map((hash) => hash.copy().digest("hex"));
    return {
      revision: this.#revision,
      messages: this.#messages,
      records: this.#records,
      lastRecordId: this.#lastRecordId,
      blobs: this.#blobs,
      bytes: this.#bytes,
      sha256: createHash("sha256").update(parts.join()).digest("hex"),
    };
  }

  #take(hash: Hash, text: string): void {
    hash.update(text, "utf8").update("\n");
    this.#bytes += Buffer.byteLength(text, "utf8");
  }
}

/**
 * Converts a value to JSON with sorted keys: stores that hold the same value yield the same text, whatever their order of
 * fields.
 */
function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const field: unknown = Reflect.get(value, key);
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalText(field)}`);
  }
  return `{${fields.join()}}`;
}
