import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { isMissing } from "../io/io-error.js";
import { statName } from "../io/open-file.js";
import { encodeTicket, RELEASED_TICKET, type TicketFile } from "./ticket.js";

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
  readonly #fd: number;
  readonly #inode: bigint;
  #bytes: number;

  private constructor(number: number, path: string, fd: number) {
    const { ino, size } = fstatSync(fd, { bigint: true });
    this.number = number;
    this.#path = path;
    this.#fd = fd;
    this.#inode = ino;
    this.#bytes = Number(size);
  }

  /** Opens the file of a ticket; null when it was taken away. */
  static open(number: number, path: string): KeptTicket | null {
    try {
      return new KeptTicket(number, path, openSync(path, "r+"));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Turns a ticket that was given back into another, with the same number. */
  claim(ticket: Omit<TicketFile, "number">): void {
    this.#write(encodeTicket(ticket));
  }

  /** Turns the contents into those of a ticket that was given back. */
  release(): void {
    this.#write(RELEASED_TICKET);
  }

  /** Tells whether the file still has its name: all tickets may have been removed, and their numbers may have begun again. */
  get isInPlace(): boolean {
    return statName(this.#path)?.ino === this.#inode;
  }

  /** Closes the file; it stays as it is. */
  close(): void {
    closeSync(this.#fd);
  }

  /** Fills up with spaces, which JSON allows, so that nothing of what was there follows. */
  #write(contents: Buffer): void {
    this.#bytes = Math.max(this.#bytes, contents.length);
    const filled = Buffer.alloc(this.#bytes, SPACE);
    contents.copy(filled);
    writeSync(this.#fd, filled, 0, filled.length, 0);
  }
}
