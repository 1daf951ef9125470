import { InvalidInputError, type Message, type Slot, StateTooLargeError } from "@holdfast/core";
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

/**
 * Builds the arguments of the save script, without the log records: only what changed, whatever the length of the session.
 *
 * @throws StateTooLargeError | StateCorruptError | InvalidInputError before anything is sent
 */
export function saveArgs(
  slot: Slot,
  write: StateWrite,
  ttlMs: number | undefined,
): (string | number)[] {
  const {
    op,
    expected,
    revision = nextRevision(expected),
    lease,
    release,
    keep,
    takes = [],
  } = write;
  if (typeof op !== "string" || !REVISION.test(revision))
    throw new InvalidInputError(
      `${describeSlot(slot)} was not saved: a save needs an op, and a revision made with nextRevision`,
    );
  // The script compares `keep` with what is stored.
  checkWrite(write, keep, slot);
  const encoder = new SaveEncoder(slot);
  return [
    slotField(slot),
    JSON.stringify(op),
    expected === null ? "" : `r${expected}`,
    revision,
    lease === undefined ? "" : `t${lease}`,
    release === true ? 1 : 0,
    keep,
    encoder.text(write.head, "its head", MAX_HEAD_BYTES),
    ttlMs ?? 0,
    Date.now(),
    write.info === undefined ? "" : encoder.text(write.info, "its info", MAX_HEAD_BYTES),
    write.info?.waiting === true ? 1 : 0,
    ...encoder.callRecord(write.callRecord),
    takes.length,
    ...idArgs(takes),
    write.replace.length,
    ...write.replace.flatMap(([index, message]) => [index, encoder.message(message)]),
    write.append.length,
    ...write.append.map((message) => encoder.message(message)),
  ];
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

  callRecord(write: CallRecordWrite | undefined): [callId: string, record: string, keep: number] {
    if (write === undefined) return ["", "", 0];
    const { record, keep } = write;
    return [
      JSON.stringify(record.callId),
      this.text(record, "a call record", MAX_HEAD_BYTES),
      keep,
    ];
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
