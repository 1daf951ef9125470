import { link, readdir, readFile, rename, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type Disk, removeFile, removeStaleTemporaries } from "../io/disk.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { decodeTicket, encodeTicket, type Ticket, ticketName, ticketNumber } from "./ticket.js";

/** A ticket and its last sign of life. */
export interface SeenTicket {
  readonly ticket: Ticket;
  readonly renewedMs: number;
}

/** The tickets of one slot, as files of one directory. */
export class TicketDirectory {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #root: string;

  constructor(disk: Disk, directory: string, root: string) {
    this.#disk = disk;
    this.#directory = directory;
    this.#root = root;
  }

  get path(): string {
    return this.#directory;
  }

  /** Numbers of all tickets, ascending; given back ones among them. */
  async numbers(): Promise<number[]> {
    let names: string[];
    try {
      names = await readdir(this.#directory);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
    return names
      .map(ticketNumber)
      .filter((number) => number !== null)
      .sort((a, b) => a - b);
  }

  /** The ticket with this number; null when it was given back or removed. */
  async read(number: number): Promise<SeenTicket | null> {
    try {
      const path = this.#pathOf(number);
      // The time first: a sign of life in between is then seen next time, and none is made up.
      const { mtimeMs } = await stat(path);
      const ticket = decodeTicket(number, await readFile(path, "utf8"));
      return ticket === null ? null : { ticket, renewedMs: mtimeMs };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /**
   * Takes the next number.
   *
   * A number counts only if it is the highest when looked at again. Between looking and taking, others may have come and
   * gone past it; it is then free again, but lower than that of whoever holds the lease.
   */
  async take(ticket: Omit<Ticket, "number" | "released">): Promise<Ticket> {
    await this.#disk.makeDirectory(this.#directory, this.#root);
    const bytes = encodeTicket({ ...ticket, number: 0, released: false });
    return this.#disk.withTemporary(this.#directory, bytes, async (temporary) => {
      // Every further round means that somebody else took a number: there is progress, so this ends.
      for (;;) {
        const number = ((await this.numbers()).at(-1) ?? 0) + 1;
        try {
          await link(temporary, this.#pathOf(number));
        } catch (error) {
          if (ioCode(error) === "EEXIST") continue;
          throw error;
        }
        if ((await this.numbers()).at(-1) === number) return { ...ticket, number, released: false };
        await this.remove(number);
      }
    });
  }

  /** A sign of life; false when the ticket was taken away. */
  async renew({ number }: Ticket): Promise<boolean> {
    try {
      const now = new Date();
      await utimes(this.#pathOf(number), now, now);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Gives a ticket back. The highest stays as a mark, so that numbers go on from it. */
  async giveBack(ticket: Ticket): Promise<void> {
    const numbers = await this.numbers();
    if (!numbers.includes(ticket.number)) return;
    if (numbers.at(-1) !== ticket.number) {
      await this.remove(ticket.number);
      return;
    }
    const bytes = encodeTicket({ ...ticket, released: true });
    await this.#disk.withTemporary(this.#directory, bytes, (temporary) =>
      rename(temporary, this.#pathOf(ticket.number)),
    );
    await removeStaleTemporaries(this.#directory);
  }

  /** Removes a ticket that is not the highest. */
  async remove(number: number): Promise<void> {
    await removeFile(this.#pathOf(number));
  }

  #pathOf(number: number): string {
    return join(this.#directory, ticketName(number));
  }
}
