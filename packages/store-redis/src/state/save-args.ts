import {
  InvalidInputError,
  type Message,
  type Revision,
  type Slot,
  StateTooLargeError,
} from "@holdfast/core";
import {
  type CallRecordWrite,
  checkWrite,
  describeSlot,
  nextRevision,
  type StateWrite,
} from "@holdfast/core/store-kit";
import { idArgs } from "../inbox/redis-inbox.js";
import { REVISION } from "./save-script.js";
import { slotField } from "./stored-state.js";

/**
 * A head is written whole with every save, so it must be small. The engine allows its sections 256 KB, and keeps them twice
 * while a run saves its steps.
 */
const MAX_HEAD_BYTES = 1_024 * 1_024;
const MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;
/** The server is blocked while it reads and applies a save. */
const MAX_SAVE_BYTES = 64 * 1_024 * 1_024;

/** Values of a save, encoded, without the log records. */
export interface SaveArgs {
  readonly revision: Revision;
  readonly head: string;
  /** Texts of the appended messages. */
  readonly append: readonly string[];
  /** Returns the arguments of the save script, with the head and the messages as they are to be sent. */
  sent(
    head: string,
    append: readonly string[],
    log: readonly (string | number)[],
  ): (string | number)[];
}

/**
 * Builds the arguments of the save script, without the log records: only what changed, whatever the length of the session.
 *
 * @throws StateTooLargeError | StateCorruptError | InvalidInputError before anything is sent
 */
export function saveArgs(slot: Slot, write: StateWrite, ttlMs: number | undefined): SaveArgs {
  const { op, expected, revision = nextRevision(expected), lease, keep, takes = [] } = write;
  if (typeof op !== "string" || !REVISION.test(revision))
    throw new InvalidInputError(
      `${describeSlot(slot)} was not saved: a save needs an op, and a revision made with nextRevision`,
    );
  // The script compares `keep` with what is stored.
  checkWrite(write, keep, slot);
  const encoder = new SaveEncoder(slot);
  const { info, replace } = write;
  // One argument, as each has more bytes around it than in it.
  const numbers = [
    ...[write.release === true ? 1 : 0, keep, ttlMs ?? 0, Date.now()],
    ...[info?.waiting === true ? 1 : 0, takes.length, replace.length, write.append.length],
  ].join(" ");
  const before = [
    ...(expected === null
      ? [slotField(slot), JSON.stringify(op), ""]
      : ["", JSON.stringify(op), `r${expected}`]),
    revision,
    ...[lease === undefined ? "" : `t${lease}`, numbers],
  ];
  const head = encoder.text(write.head, "its head", MAX_HEAD_BYTES);
  const between = [
    info === undefined ? "" : encoder.text(info, "its info", MAX_HEAD_BYTES),
    encoder.callRecord(write.callRecord),
    ...idArgs(takes),
    ...replace.flatMap(([index, message]) => [index, encoder.message(message)]),
  ];
  const append = write.append.map((message) => encoder.message(message));
  return {
    ...{ revision, head, append },
    sent: (head, append, log) => [...before, head, ...between, ...append, ...log],
  };
}

/** Encodes the values of one save as JSON, within the limits. */
class SaveEncoder {
  readonly #slot: Slot;
  #bytes = 0;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  message(message: Message): string {
    return this.text(message, "a message", MAX_MESSAGE_BYTES);
  }

  callRecord(write: CallRecordWrite | undefined): string {
    if (write === undefined) return "";
    const { record, keep } = write;
    const text = this.text(record, "a call record", MAX_HEAD_BYTES);
    return `${Math.max(keep, 0)}\t${JSON.stringify(record.callId)}\t${text}`;
  }

  text(value: object, what: string, limit: number): string {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text, "utf8");
    this.#bytes += bytes;
    if (bytes > limit) throw this.#tooLarge(what, bytes, limit);
    if (this.#bytes > MAX_SAVE_BYTES)
      throw this.#tooLarge("what changed", this.#bytes, MAX_SAVE_BYTES);
    return text;
  }

  #tooLarge(what: string, bytes: number, limit: number): StateTooLargeError {
    return new StateTooLargeError(
      `${describeSlot(this.#slot)} was not saved: ${what} takes ${bytes} bytes as JSON, at most ${limit} are accepted; evict or split`,
    );
  }
}
