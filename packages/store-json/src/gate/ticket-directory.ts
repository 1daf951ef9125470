import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Disk, FILE_MODE, namesIn, temporaryPath } from "../io/disk.js";
import { isOlderThan, touchFile } from "../io/file-time.js";
import type { IdlePool } from "../io/idle-pool.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { namesInChanged } from "../io/open-file.js";
import { removeStaleTemporaries } from "../io/stale-temporaries.js";
import { KeptTicket } from "./kept-ticket.js";
import {
  decodeTicket,
  encodeTicket,
  TICKET_START,
  type TicketFile,
  ticketName,
  ticketNumber,
} from "./ticket.js";

/** Nothing here has to survive a power loss: no holder does either. */
const disk = new Disk("os");

/** A ticket as it was read. */
export interface SeenTicket {
  readonly ticket: TicketFile;
  /** Time of its last renewal, by the clock of the file system. */
  readonly renewedMs: number;
  /** Moment before it was read, on the clock of `performance.now()`. */
  readonly readAt: number;
}

/** A ticket that was just taken, and the numbers of all tickets at that time. */
export interface TakenTicket {
  readonly ticket: TicketFile;
  readonly numbers: readonly number[];
}

/**
 * The tickets of one slot, as files of one directory. Once its names were read the system has it in memory: it is looked at and
 * changed at once from then on.
 */
export class TicketDirectory {
  readonly path: string;
  readonly #root: string;
  readonly #idle: IdlePool<KeptTicket>;
  /** File of the ticket taken with {@link takeAgain}. */
  #kept: KeptTicket | undefined;
  #isInMemory = false;

  /**
   * @param root - created with everything below it when the first ticket is taken
   * @param idle - files of tickets that the gate has given back, by path of their directory
   */
  constructor(path: string, root: string, idle: IdlePool<KeptTicket>) {
    this.path = path;
    this.#root = root;
    this.#idle = idle;
  }

  /** Returns the numbers of all tickets, ascending; given back ones among them. */
  async numbers(): Promise<number[]> {
    if (this.#isInMemory) return this.#numbersNow();
    const names = await namesIn(this.path);
    this.#isInMemory = true;
    return numbersIn(names);
  }

  /** Returns the ticket with this number; null when it was given back or removed. */
  read(number: number): SeenTicket | null {
    const readAt = performance.now();
    let fd: number;
    try {
      fd = openSync(this.#pathOf(number), "r");
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
    try {
      // The time first: a renewal in between is then seen next time, and none is made up.
      const { mtimeMs } = fstatSync(fd);
      const ticket = decodeTicket(number, readFileSync(fd, "utf8"));
      return ticket === null ? null : { ticket, renewedMs: mtimeMs, readAt };
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Takes the next number.
   *
   * A number counts only if it is the highest when looked at again. Between looking and taking, others may have come and
   * gone past it; it is then free again, but lower than that of the call that holds the lease.
   */
  async take(ticket: Omit<TicketFile, "number">): Promise<TakenTicket> {
    const temporary = temporaryPath(this.path);
    const contents = encodeTicket(ticket);
    try {
      await this.#create(temporary, contents);
      const { number, numbers } = this.#linkAsHighest(temporary);
      return { ticket: { ...ticket, number }, numbers };
    } finally {
      removeNow(temporary);
    }
  }

  async #create(path: string, contents: Buffer): Promise<void> {
    const options = { flag: "wx", mode: FILE_MODE };
    try {
      writeFileSync(path, contents, options);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await disk.makeDirectory(this.path, this.#root);
      writeFileSync(path, contents, options);
    }
  }

  #linkAsHighest(temporary: string): { number: number; numbers: readonly number[] } {
    // Every further round means that another process took a number: there is progress, so this ends.
    for (;;) {
      const number = (this.#numbersNow().at(-1) ?? 0) + 1;
      try {
        linkSync(temporary, this.#pathOf(number));
      } catch (error) {
        if (ioCode(error) === "EEXIST") continue;
        throw error;
      }
      const numbers = this.#numbersNow();
      if (numbers.at(-1) === number) return { number, numbers };
      this.remove(number);
    }
  }

  /**
   * Takes the slot with the file of the gate's last ticket, which is quicker than {@link take}. It counts only if no other ticket
   * is there when looked at again: one that came before the file was written may have seen it given back.
   *
   * @returns null, and nothing is held, when another process came since, or there is no such file
   */
  async takeAgain(ticket: Omit<TicketFile, "number">): Promise<TicketFile | null> {
    const idle = this.#idle.take(this.path);
    if (idle === undefined) return null;
    this.#isInMemory = true;
    try {
      if (!idle.isInPlace) return null;
      idle.claim(ticket);
      if (this.#isOnly(idle)) {
        this.#kept = idle;
        return { ...ticket, number: idle.number };
      }
      await this.#releaseKept(idle);
      return null;
    } finally {
      if (this.#kept === undefined) idle.close();
    }
  }

  #isOnly(ticket: KeptTicket): boolean {
    const numbers = this.#numbersNow();
    return numbers.length === 1 && numbers[0] === ticket.number && ticket.isInPlace;
  }

  /** Renews a ticket; false when it was taken away. */
  async renew({ number }: TicketFile): Promise<boolean> {
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
  async giveBack({ number }: TicketFile): Promise<void> {
    const kept = this.#kept ?? KeptTicket.open(number, this.#pathOf(number));
    const isNew = this.#kept === undefined;
    this.#kept = undefined;
    if (kept === null) return;
    let isMark = false;
    try {
      isMark = await this.#releaseKept(kept, isNew);
    } finally {
      if (isMark) this.#idle.put(this.path, kept);
      else kept.close();
    }
  }

  /** Closes what is open for a ticket that will not be given back. */
  forget(): void {
    this.#kept?.close();
    this.#kept = undefined;
  }

  /**
   * Tells all who look that a ticket was given back, then wakes those who have looked before by removing it, unless it is the
   * highest; true when it stays as a mark.
   */
  async #releaseKept(kept: KeptTicket, sweep = false): Promise<boolean> {
    kept.release();
    const names = namesInChanged(this.path);
    const numbers = numbersIn(names);
    if (sweep) await removeStaleTemporaries(this.path, names);
    if (!numbers.includes(kept.number)) return false;
    if (numbers.at(-1) === kept.number) return true;
    this.remove(kept.number);
    return false;
  }

  /** Removes a ticket that is not the highest. */
  remove(number: number): void {
    removeNow(this.#pathOf(number));
  }

  #numbersNow(): number[] {
    return numbersIn(namesInChanged(this.path));
  }

  #pathOf(number: number): string {
    return join(this.path, ticketName(number));
  }
}

function removeNow(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function numbersIn(names: readonly string[]): number[] {
  return names
    .map(ticketNumber)
    .filter((number) => number !== null)
    .sort((a, b) => a - b);
}
