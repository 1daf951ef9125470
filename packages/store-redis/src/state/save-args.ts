import {
  InvalidInputError,
  type JsonObject,
  type Message,
  type Slot,
  StateCorruptError,
  StateTooLargeError,
} from "@holdfast/core";
import { describeSlot, nextRevision, type StateWrite } from "@holdfast/core/store-kit";
import { slotField } from "./stored-state.js";

/** Heads hold what is small; one is written whole with every save. */
const MAX_HEAD_BYTES = 256 * 1_024;
const MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;
/** The server does nothing else while it reads and applies a save. */
const MAX_SAVE_BYTES = 64 * 1_024 * 1_024;

/**
 * What the save script reads, without the log records: only what changed, whatever the length of the session.
 *
 * @throws StateTooLargeError | StateCorruptError | InvalidInputError before anything was sent
 */
export function saveArgs(
  slot: Slot,
  write: StateWrite,
  ttlMs: number | undefined,
): (string | number)[] {
  const { op, expected, revision = nextRevision(expected), lease, release, keep } = write;
  if (typeof op !== "string" || !/^\d+\.[0-9a-f]+$/.test(revision))
    throw new InvalidInputError(
      `${describeSlot(slot)} was not saved: a save needs an op, and a revision made with nextRevision`,
    );
  checkFit(slot, write);
  const sizes = new SaveSize(slot);
  return [
    slotField(slot),
    JSON.stringify(op),
    expected === null ? "" : `r${expected}`,
    revision,
    lease === undefined ? "" : `t${lease}`,
    release === true ? 1 : 0,
    keep,
    sizes.text(write.head, "its head", MAX_HEAD_BYTES),
    ttlMs ?? 0,
    Date.now(),
    write.replace.length,
    ...write.replace.flatMap(([index, message]) => [index, sizes.message(message)]),
    write.append.length,
    ...write.append.map((message) => sizes.message(message)),
  ];
}

/** The part of `applyWrite`'s rules that can be checked here; the script compares `keep` with what is stored. */
function checkFit(slot: Slot, { keep, replace }: StateWrite): void {
  if (!Number.isSafeInteger(keep) || keep < 0) throw misfit(slot, `keeps ${keep} messages`);
  for (const [index] of replace)
    if (!Number.isInteger(index) || index < 0 || index >= keep)
      throw misfit(slot, `replaces message ${index} but keeps only ${keep}`);
}

/** The error of a save that does not fit what is stored. */
export function misfit(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(`a save of ${describeSlot(slot)} ${problem}`);
}

/** JSON texts of one save, within the limits. */
class SaveSize {
  readonly #slot: Slot;
  #bytes = 0;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  message(message: Message): string {
    return this.text(message, "a message", MAX_MESSAGE_BYTES);
  }

  text(value: JsonObject | Message, what: string, limit: number): string {
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
