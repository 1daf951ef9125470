import { readAdded, readRange } from "../io/read-range.js";
import type { EncodedRecord } from "./log-record-line.js";
import type { OpenLog } from "./open-log.js";
import { claimedIds, isRecordAt, REPEAT_BYTES, repeatsFrom } from "./repeated-ids.js";

/** Ids cached per log: up to 200 bytes of memory each. */
const MAX_IDS = 2_000;

/** The ids in the last part of a log file, as far as this process has seen it. */
export class SeenIds {
  /** Unique id of the file they are from. */
  readonly file: string | undefined;
  /** Offset of the line of each id; oldest first. */
  readonly #starts = new Map<string, number>();
  #seenTo = -1;

  constructor(file: string | undefined) {
    this.file = file;
  }

  /**
   * Reads the lines added to the file since.
   *
   * @param trustedFrom - lines before this offset are ignored
   * @param bytes - size of the append: as much may be there already, from an append that was cut short
   */
  async catchUp(log: OpenLog, trustedFrom: number, bytes: number): Promise<void> {
    if (this.#seenTo === log.size) return;
    const first = log.size - bytes;
    // What was seen ends with a line: where it reaches that far there is no line start to look for.
    const isSeen = this.#seenTo >= Math.max(log.start, first - REPEAT_BYTES);
    const recent = isSeen ? this.#seenTo : await repeatsFrom(log, first);
    const from = Math.max(recent, trustedFrom);
    const read = isSeen ? readAdded : readRange;
    const { starts, end } = await claimedIds(log.handle, from, log.size, read);
    for (const [id, start] of starts) this.#keep(id, start);
    // A line that has not ended is read again: its write may be under way.
    this.#seenTo = end;
  }

  /** Tells whether the file holds a whole record with this id. */
  async holds(log: OpenLog, id: string): Promise<boolean> {
    const start = this.#starts.get(id);
    return start !== undefined && isRecordAt(log, id, start);
  }

  /** Adds records that were written one after the other, the first at `start`. */
  wrote(records: readonly EncodedRecord[], start: number): void {
    let end = start;
    for (const { id, line } of records) {
      this.#keep(id, end);
      end += line.length;
    }
    this.#seenTo = end;
    this.#forgetOld();
  }

  #keep(id: string, start: number): void {
    this.#starts.delete(id);
    this.#starts.set(id, start);
  }

  #forgetOld(): void {
    for (const [id, start] of this.#starts) {
      if (start >= this.#seenTo - REPEAT_BYTES && this.#starts.size <= MAX_IDS) break;
      this.#starts.delete(id);
    }
  }
}
