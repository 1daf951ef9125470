import { createHash, type Hash } from "node:crypto";
import type { LoadedState, LogDraft, LogRecord, Revision } from "@holdfast/core";

/** What a session amounts to: two stores that hold the same session say the same. */
export interface SessionSummary {
  /** Null for a session that has a log and no state. */
  readonly revision: Revision | null;
  readonly messages: number;
  readonly records: number;
  /** Id of the last of them. */
  readonly lastRecordId: string | null;
  /** References to long texts; one that is named twice counts twice. */
  readonly blobs: number;
  /** Of the canonical texts and the long texts they refer to. */
  readonly bytes: number;
  /** Of state and log: hex. */
  readonly sha256: string;
}

/** A record without its place in the log, which is each log's own. */
export function recordText(record: LogDraft | LogRecord): string {
  return canonicalText({ ...record, seq: undefined });
}

/** Whether two states are the same, whoever keeps them. */
export function isSameState(a: LoadedState, b: LoadedState): boolean {
  if (a.revision !== b.revision || a.messages.length !== b.messages.length) return false;
  if (canonicalText(a.head) !== canonicalText(b.head)) return false;
  return a.messages.every(
    (message, at) => canonicalText(message) === canonicalText(b.messages[at]),
  );
}

/** Takes in a session, piece by piece, and says what it amounts to. */
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

  /** The state; once, if there is one. */
  state({ revision, head, messages }: LoadedState): void {
    this.#revision = revision;
    this.#messages = messages.length;
    this.#take(this.#state, revision);
    this.#take(this.#state, canonicalText(head));
    for (const message of messages) this.#take(this.#state, canonicalText(message));
  }

  /**
   * The next record of the log, its long texts apart.
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

  /** The sum of what was taken in; more may follow. */
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
 * JSON with the keys of every object in one order: two stores that keep the same value give the same text, whichever order
 * they keep its fields in.
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
