import { type FileHandle, link, open } from "node:fs/promises";
import { removeFile } from "../io/disk.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { statOpen } from "../io/open-file.js";
import { encodeTicket, RELEASED_TICKET, type Ticket } from "./ticket.js";

/**
 * File of a ticket that is kept open when it is given back: while it is the highest, the gate takes its next number by giving
 * the same file another name.
 *
 * A file that is being written reads as a ticket that was given back, which is what it was or is about to be.
 */
export class KeptTicket {
  readonly number: number;
  readonly #handle: FileHandle;

  private constructor(number: number, handle: FileHandle) {
    this.number = number;
    this.#handle = handle;
  }

  /** Opens the file of a ticket; null when it was taken away. */
  static async open(number: number, path: string): Promise<KeptTicket | null> {
    try {
      return new KeptTicket(number, await open(path, "r+"));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /**
   * Gives the file the next number and the contents of a ticket.
   *
   * @returns null when another process has taken that number, or removed the file
   */
  async renumber(
    ticket: Omit<Ticket, "number">,
    pathOf: (number: number) => string,
  ): Promise<KeptTicket | null> {
    const next = this.number + 1;
    try {
      await link(pathOf(this.number), pathOf(next));
    } catch (error) {
      if (ioCode(error) === "EEXIST" || isMissing(error)) return null;
      throw error;
    }
    if (statOpen(this.#handle).nlink !== 2n) {
      // Another file has the name of this one: all tickets were removed, and their numbers began again.
      await removeFile(pathOf(next));
      return null;
    }
    const text = encodeTicket(ticket);
    await Promise.all([
      removeFile(pathOf(this.number)),
      this.#handle.write(text, 0, text.length, 0),
    ]);
    return new KeptTicket(next, this.#handle);
  }

  /** Turns the contents into those of a ticket that was given back, and returns what `look` sees once others can see that. */
  async release<T>(look: () => T): Promise<T> {
    const { length } = RELEASED_TICKET;
    await this.#handle.write(RELEASED_TICKET, 0, length, 0);
    const seen = look();
    await this.#handle.truncate(length);
    return seen;
  }

  /** Closes the file; it stays as it is. */
  async close(): Promise<void> {
    await this.#handle.close();
  }
}
