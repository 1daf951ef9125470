import { InvalidInputError, type Revision, type Slot } from "@holdfast/core";
import { checkWrite, describeSlot, nextRevision, type StateWrite } from "@holdfast/core/store-kit";
import { type PreparedLog, prepareLog } from "../log/append-log.js";
import { type PreparedCallRecord, prepareCallRecord } from "./call-records.js";
import { opEntry } from "./op-ring.js";

/** A message and its position. */
export interface MessageRow {
  readonly pos: number;
  readonly body: Buffer;
  /** Index of the record of the same save that has this body; undefined when the row holds it. */
  readonly record?: number | undefined;
}

/** A write ready to be sent. A copy: changing the caller's values afterwards has no effect. */
export interface PreparedWrite {
  readonly op: string;
  readonly expected: Revision | null;
  readonly revision: Revision;
  readonly opEntry: Buffer;
  readonly head: Buffer;
  readonly keep: number;
  /** Positions below `keep` whose message is replaced. */
  readonly replaced: readonly number[];
  /** Messages after this write. */
  readonly count: number;
  /** Replaced and appended messages. */
  readonly rows: readonly MessageRow[];
  readonly lease: string | undefined;
  readonly release: boolean;
  readonly log: PreparedLog;
  /** Ids of inbox entries to remove, each once. */
  readonly takes: readonly string[];
  readonly callRecord: PreparedCallRecord | undefined;
  readonly info: PreparedInfo | undefined;
  /** @throws StateCorruptError when the write does not fit `stored` messages */
  checkFits(stored: number): void;
}

/** Facts for listings. */
export interface PreparedInfo {
  readonly body: Buffer;
  readonly runOpen: boolean;
  readonly awaitsAnswer: boolean;
}

/**
 * Checks and encodes a write. Call it before the first `await`.
 *
 * @throws StateCorruptError for a write that fits no state
 * @throws InvalidInputError
 * @throws StateTooLargeError for a call record of more than 4 MB
 */
export function prepareWrite(slot: Slot, write: StateWrite): PreparedWrite {
  const { op, expected, keep, replace, append, lease, release = false, callRecord, info } = write;
  if (typeof op !== "string" || op === "")
    throw new InvalidInputError(`${describeSlot(slot)} was not saved: the save has no op`);
  if (release && lease === undefined)
    throw new InvalidInputError(
      `${describeSlot(slot)} was not saved: release is set without a lease`,
    );
  const places = replace.map(([index]) => [index, null] as const);
  const checkFits = (stored: number): void => {
    checkWrite({ keep, replace: places }, stored, slot);
  };
  // A write that does not fit a state of exactly the kept messages fits none.
  checkFits(keep);
  const revision = write.revision ?? nextRevision(expected);
  const log = prepareLog(slot, write.log ?? []);
  const logged = new Map(
    log.records.flatMap(({ body }, index) => (body.isMessage ? [[body.text, index]] : [])),
  );
  return {
    op,
    expected,
    revision,
    opEntry: opEntry(op, revision),
    head: encode(write.head),
    keep,
    replaced: replace.map(([index]) => index),
    count: keep + append.length,
    rows: [
      ...replace.map(([pos, message]) => ({ pos, body: encode(message) })),
      ...append.map((message, index) => {
        const text = JSON.stringify(message);
        return { pos: keep + index, body: Buffer.from(text, "utf8"), record: logged.get(text) };
      }),
    ],
    lease,
    release,
    log,
    takes: [...new Set(write.takes)],
    callRecord: callRecord && prepareCallRecord(slot, callRecord),
    info: info && {
      body: encode(info),
      runOpen: info.unfinished === true,
      awaitsAnswer: info.waiting === true,
    },
    checkFits,
  };
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), "utf8");
}
