import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "../io/disk.js";
import { IdlePool } from "../io/idle-pool.js";
import { isMissing } from "../io/io-error.js";
import { statName } from "../io/open-file.js";
import { journalName } from "./generation.js";
import type { Place } from "./place.js";
import { type FileState, isAsRead, isCurrent, type Position } from "./position.js";

/** A journal open for reading and appending. */
export interface JournalHandle {
  readonly handle: FileHandle;
  readonly inode: bigint;
}

/** Handles of journals, kept open for the next command on the same document. */
export class JournalHandles {
  readonly #disk: Disk;
  readonly #idle = new IdlePool<JournalHandle>(({ handle }) => handle.close());

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Returns an open handle on a position's journal, if one is kept and the journal has not been replaced. */
  async kept(place: Place, position: Position): Promise<(JournalHandle & FileState) | null> {
    const kept = this.#idle.take(place.directory);
    if (kept === undefined) return null;
    const stats = statName(pathOf(place, position.generation));
    if (stats?.ino === kept.inode) {
      const { ino, size, ctimeNs } = stats;
      return { ...kept, ino, size, ctimeNs };
    }
    await kept.handle.close();
    return null;
  }

  /** Tells whether nothing was saved since a position, as `isCurrent` does. */
  async isCurrent(place: Place, position: Position): Promise<boolean> {
    const isOpen = this.#idle.has(place.directory) && position.offset > 0;
    if (!isOpen) return isCurrent(place, position);
    const stats = statName(pathOf(place, position.generation));
    return stats !== undefined && isAsRead(stats, position);
  }

  /** Opens the journal of a position; null when there is none. */
  async open(place: Place, generation: number, create: boolean): Promise<FileHandle | null> {
    try {
      return await this.#disk.openForAppend(pathOf(place, generation), create);
    } catch (error) {
      // Of a past generation; or the directory of a deleted document was removed in between.
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Keeps a handle, on the journal that the position is about. */
  keep(place: Place, { inode }: Position, handle: FileHandle): void {
    if (inode === null) void handle.close().catch(() => undefined);
    else this.#idle.put(place.directory, { handle, inode });
  }

  /** Closes all that are idle. */
  clear(): Promise<void> {
    return this.#idle.clear();
  }
}

function pathOf(place: Place, generation: number): string {
  return join(place.directory, journalName(generation));
}
