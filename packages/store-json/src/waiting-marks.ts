import { createHash } from "node:crypto";
import { readdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Slot } from "@holdfast/core";
import { type Disk, namesIn, removeFile } from "./io/disk.js";
import { isOlderThan, modifiedMs, touchFile } from "./io/file-time.js";
import { isMissing } from "./io/io-error.js";
import { removeStaleTemporaries } from "./io/stale-temporaries.js";
import { COMPANION_FOLDERS, parentsUpTo, slotDirectory } from "./layout.js";

/** First byte of every mark. */
const START = "[";
const MARK = /^[0-9a-f]{32}$/;
/** No agent's directory has such a name. */
const COMPLETE = "@complete";
/** A mark without its wait is removed only at this age: it is written before the save. */
const STALE_AFTER_MS = 600_000;
/** Attempts at writing a mark into a directory that other processes keep removing as empty. */
const ATTEMPTS = 20;

/**
 * Index of the sessions whose tool calls wait for an answer: in `@waiting`, a directory per session, in the same place as that of
 * its state, with a mark for each save that made it wait.
 *
 * A mark is written before its save and removed after the one that ends the wait; so no session that waits is without a mark. One
 * without its wait, of a process that died between the two, is removed when a listing meets it.
 */
export class WaitingMarks {
  readonly #root: string;
  readonly #disk: Disk;

  /** @param root - that of the store */
  constructor(root: string, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
  }

  /** Marks a session, before the save with this op makes it wait; durable when it resolves. */
  async add(slot: Slot, op: string): Promise<void> {
    const directory = slotDirectory(this.#folder, slot);
    const { agentId, userId, sessionId } = slot;
    const ids = Buffer.from(JSON.stringify([agentId, userId, sessionId]));
    const name = createHash("sha256").update(op).digest("hex").slice(0, 32);
    for (let attempt = 1; ; attempt++)
      try {
        await this.#disk.makeDirectory(directory, this.#root);
        // A save that is repeated needs it as fresh as one that is not.
        if (!(await this.#disk.publish(directory, name, ids)))
          await touchFile(join(directory, name), START);
        await this.#disk.syncDirectories(directory, ...parentsUpTo(directory, this.#root));
        return;
      } catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS) throw error;
      }
  }

  /** Returns the paths of a session's marks. */
  async of(slot: Slot): Promise<readonly string[]> {
    return this.#marksIn(slotDirectory(this.#folder, slot));
  }

  /** Removes marks, and directories without any. */
  async remove(marks: readonly string[]): Promise<void> {
    for (const mark of marks) await removeFile(mark);
    for (const directory of new Set(marks.map((mark) => dirname(mark))))
      await this.#removeEmpty(directory);
  }

  /**
   * Removes the marks of a session that was found not to wait, except those of saves that may be under way.
   *
   * @param session - the directory of its state, from the root
   */
  async removeStale(session: string): Promise<void> {
    const directory = join(this.#folder, session);
    await removeStaleTemporaries(directory);
    for (const mark of await this.#marksIn(directory)) {
      const writtenMs = await modifiedMs(mark);
      if (writtenMs !== null && (await isOlderThan(this.#root, writtenMs, STALE_AFTER_MS)))
        await removeFile(mark);
    }
    await this.#removeEmpty(directory);
  }

  /** Tells whether every session that waits is marked: an earlier release wrote no marks. */
  async isComplete(): Promise<boolean> {
    return (await modifiedMs(join(this.#folder, COMPLETE))) !== null;
  }

  /** Notes that every session that waits is marked. */
  async setComplete(): Promise<void> {
    await this.#disk.makeDirectory(this.#folder, this.#root);
    await this.#disk.publish(this.#folder, COMPLETE, Buffer.alloc(0));
    await this.#disk.syncDirectories(this.#folder, this.#root);
  }

  get #folder(): string {
    return join(this.#root, COMPANION_FOLDERS.waiting);
  }

  async #marksIn(directory: string): Promise<string[]> {
    const names = await namesIn(directory);
    return names.filter((name) => MARK.test(name)).map((name) => join(directory, name));
  }

  /** Removes a directory, and those above it, as far as they are empty; a mark that is written meanwhile makes them again. */
  async #removeEmpty(directory: string): Promise<void> {
    for (let path = directory; path !== this.#folder; path = dirname(path))
      try {
        if ((await readdir(path)).length > 0) return;
        await rmdir(path);
      } catch {
        return;
      }
  }
}
