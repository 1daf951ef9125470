import { type FileHandle, open } from "node:fs/promises";
import { isMissing } from "../io/io-error.js";
import { statName, statOpen, writeOpen } from "../io/open-file.js";
import { encodeTicket, RELEASED_TICKET, type Ticket } from "./ticket.js";

const SPACE = " ".charCodeAt(0);

/**
 * File of a ticket that is kept open when it is given back: while it is the highest, the gate takes the slot again by writing
 * another ticket into it.
 *
 * A file that is being written reads as a ticket that was given back, which is what it was or is about to be.
 */
export class KeptTicket {
  readonly number: number;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #inode: bigint;
  #bytes: number;

  private constructor(number: number, path: string, handle: FileHandle) {
    const { ino, size } = statOpen(handle);
    this.number = number;
    this.#path = path;
    this.#handle = handle;
    this.#inode = ino;
    this.#bytes = Number(size);
  }

  /** Opens the file of a ticket; null when it was taken away. */
  static async open(number: number, path: string): Promise<KeptTicket | null> {
    try {
      return new KeptTicket(number, path, await open(path, "r+"));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Turns a ticket that was given back into another, with the same number. */
  claim(ticket: Omit<Ticket, "number">): Promise<void> {
    return this.#write(encodeTicket(ticket));
  }

  /** Turns the contents into those of a ticket that was given back. */
  release(): Promise<void> {
    return this.#write(RELEASED_TICKET);
  }

  /** Tells whether the file still has its name: all tickets may have been removed, and their numbers may have begun again. */
  get isInPlace(): boolean {
    return statName(this.#path)?.ino === this.#inode;
  }

  /** Closes the file; it stays as it is. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Fills up with spaces, which JSON allows, so that nothing of what was there follows. */
  async #write(contents: Buffer): Promise<void> {
    this.#bytes = Math.max(this.#bytes, contents.length);
    const filled = Buffer.alloc(this.#bytes, SPACE);
    contents.copy(filled);
    await writeOpen(this.#handle, filled, 0);
  }
}
