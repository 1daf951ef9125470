import type { Message, Revision } from "@holdfast/core";
import { checkWrite, type MessageWrite } from "@holdfast/core/store-kit";
import type { JournalRecord } from "./record.js";

/** Joins the records that follow a revision into one change of its messages. */
export class MessageChange implements MessageWrite {
  /** Revision that the change leads to. */
  revision: Revision;
  /** Messages of the first revision that stayed. */
  keep: number;
  readonly #replaced = new Map<number, Message>();
  #append: Message[] = [];

  /** @param count - number of messages at `revision` */
  constructor(revision: Revision, count: number) {
    this.revision = revision;
    this.keep = count;
  }

  get append(): readonly Message[] {
    return this.#append;
  }

  get replace(): [index: number, message: Message][] {
    return [...this.#replaced].filter(([index]) => index < this.keep).sort(([a], [b]) => a - b);
  }

  /**
   * Takes the next record of the file; one that follows another revision lost against an earlier record.
   *
   * @throws StateCorruptError when it does not fit
   */
  follow(record: JournalRecord): void {
    if (record.kind !== "save" || record.prev !== this.revision) return;
    checkWrite(record, this.keep + this.#append.length);
    for (const [index, message] of record.replace)
      if (index < this.keep) this.#replaced.set(index, message);
      else this.#append[index - this.keep] = message;
    this.#append.length = Math.max(0, record.keep - this.keep);
    this.keep = Math.min(this.keep, record.keep);
    for (const message of record.append) this.#append.push(message);
    this.revision = record.rev;
  }
}
