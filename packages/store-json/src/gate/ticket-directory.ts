import { link, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Disk, namesIn, removeFile } from "../io/disk.js";
import { isOlderThan, touchFile } from "../io/file-time.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { removeStaleTemporaries } from "../io/stale-temporaries.js";
import {
  decodeTicket,
  encodeTicket,
  RELEASED_TICKET,
  TICKET_START,
  type Ticket,
  ticketName,
  ticketNumber,
} from "./ticket.js";

/** Nothing here has to survive a power loss: no holder does either. */
const disk = new Disk("os");

/** A ticket as it was read. */
export interface SeenTicket {
  readonly ticket: Ticket;
  /** Time of its last renewal, by the clock of the file system. */
  readonly renewedMs: number;
  /** Moment before it was read, on the clock of `performance.now()`. */
  readonly readAt: number;
}

/** The tickets of one slot, as files of one directory. */
export class TicketDirectory {
  readonly path: string;
  readonly #root: string;

  /** @param root - created with everything below it when the first ticket is taken */
  constructor(path: string, root: string) {
    this.path = path;
    this.#root = root;
  }

  /** Returns the numbers of all tickets, ascending; given back ones among them. */
  async numbers(): Promise<number[]> {
    return (await namesIn(this.path))
      .map(ticketNumber)
      .filter((number) => number !== null)
      .sort((a, b) => a - b);
  }

  /** Returns the ticket with this number; null when it was given back or removed. */
  async read(number: number): Promise<SeenTicket | null> {
    const readAt = performance.now();
    try {
      const path = this.#pathOf(number);
      // The time first: a renewal in between is then seen next time, and none is made up.
      const { mtimeMs } = await stat(path);
      const ticket = decodeTicket(number, await readFile(path, "utf8"));
      return ticket === null ? null : { ticket, renewedMs: mtimeMs, readAt };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /**
   * Takes the next number.
   *
   * A number counts only if it is the highest when looked at again. Between looking and taking, others may have come and
   * gone past it; it is then free again, but lower than that of the call that holds the lease.
   */
  async take(ticket: Omit<Ticket, "number">): Promise<Ticket> {
    await disk.makeDirectory(this.path, this.#root);
    return disk.withTemporary(this.path, encodeTicket(ticket), async (temporary) => {
      // Every further round means that another process took a number: there is progress, so this ends.
      for (;;) {
        const number = ((await this.numbers()).at(-1) ?? 0) + 1;
        try {
          await link(temporary, this.#pathOf(number));
        } catch (error) {
          if (ioCode(error) === "EEXIST") continue;
          throw error;
        }
        if ((await this.numbers()).at(-1) === number) return { ...ticket, number };
        await this.remove(number);
      }
    });
  }

  /** Renews a ticket; false when it was taken away. */
  async renew({ number }: Ticket): Promise<boolean> {
    try {
      await touchFile(this.#pathOf(number), TICKET_START);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Tells whether a ticket was last renewed longer ago than its lease, by the clock of the file system. */
  isOverdue({ ticket, renewedMs }: SeenTicket): Promise<boolean> {
    return isOlderThan(this.path, renewedMs, ticket.leaseMs);
  }

  /** Gives a ticket back. The highest stays as a mark, so that numbers go on from it. */
  async giveBack({ number }: Ticket): Promise<void> {
    const numbers = await this.numbers();
    if (!numbers.includes(number)) return;
    if (numbers.at(-1) !== number) {
      await this.remove(number);
      return;
    }
    await disk.withTemporary(this.path, RELEASED_TICKET, (temporary) =>
      rename(temporary, this.#pathOf(number)),
    );
    await removeStaleTemporaries(this.path);
  }

  /** Removes a ticket that is not the highest. */
  async remove(number: number): Promise<void> {
    await removeFile(this.#pathOf(number));
  }

  #pathOf(number: number): string {
    return join(this.path, ticketName(number));
  }
}
