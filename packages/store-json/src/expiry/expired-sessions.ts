import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { documentTitle } from "../document/document-title.js";
import { sweepDeleted } from "../document/sweep-deleted.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { COMPANION_FOLDERS } from "../layout.js";
import { slotOf } from "../session-scan.js";
import type { SessionLife } from "./session-life.js";
import { markedMs, removeMark, slotOfMark } from "./use-mark.js";

/** Sessions and directories that one run visits at most; the next one goes on from there. */
const VISITS_PER_RUN = 500;
/** Levels of directories above a session's own, or its mark: agent and user. */
const LEVELS = 2;

/** Removes the sessions below a root that have expired, some with each run. */
export class ExpiredSessions {
  readonly #root: string;
  readonly #life: SessionLife;
  #visits: AsyncGenerator<void, void, void> | undefined;

  constructor(root: string, life: SessionLife) {
    this.#root = root;
    this.#life = life;
  }

  /** Removes some expired sessions; resolves to true when there may be more. Several processes may do so at once. */
  async sweep(): Promise<boolean> {
    this.#visits ??= this.#visitAll();
    try {
      for (let count = 0; count < VISITS_PER_RUN; count++)
        if ((await this.#visits.next()).done) {
          this.#visits = undefined;
          return false;
        }
      return true;
    } catch (error) {
      this.#visits = undefined;
      throw error;
    }
  }

  async *#visitAll(): AsyncGenerator<void, void, void> {
    // Marks first: they also know of sessions that have a log or an inbox alone.
    yield* this.#visit(join(this.#root, COMPANION_FOLDERS.uses), 0, (path) =>
      this.#visitMark(path),
    );
    yield* this.#visit(this.#root, 0, (path) => this.#visitSession(path));
  }

  async *#visit(
    directory: string,
    level: number,
    visit: (path: string) => Promise<void>,
  ): AsyncGenerator<void, void, void> {
    for (const name of await names(directory)) {
      if (name.startsWith("@")) continue;
      const path = join(directory, name);
      if (level === LEVELS) await visit(path);
      else {
        yield* this.#visit(path, level + 1, visit);
        // Of users who have none left; fails where there is one, and a session that begins makes it again.
        await rmdir(path).catch(() => undefined);
      }
      yield;
    }
  }

  async #visitMark(path: string): Promise<void> {
    const life = this.#life;
    const marked = await markedMs(path);
    if (marked === null || life.time.nowMs() - marked < life.ttlMs) return;
    const slot = await slotOfMark(path);
    if (slot === null) await removeMark(path);
    else if (await life.isExpired(slot)) await life.remove(slot);
  }

  /** Finds sessions without a mark, which were last used before there was a `ttlMs`. */
  async #visitSession(path: string): Promise<void> {
    try {
      const title = await documentTitle(path);
      const slot = title === null ? null : slotOf(title.ids);
      if (title === null) await sweepDeleted(path);
      else if (slot !== null && (await this.#life.isExpired(slot))) await this.#life.remove(slot);
    } catch {
      // Damaged or removed meanwhile; loading it says so.
    }
  }
}

async function names(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    // A file where a directory is expected is none of ours.
    if (isMissing(error) || ioCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
