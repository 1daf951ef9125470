import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../io/io-error.js";
import { removeIfAbandoned } from "./mailbox.js";

/** Shortest time between two runs. */
const PAUSE_MS = 60_000;
/** Directories that one run visits at most; the next one goes on from there. */
const DIRECTORIES_PER_RUN = 500;

/**
 * Removes what killed processes left below the root of signals, of any session: the next call of the same one, which also would,
 * may never come.
 *
 * Runs beside the calls of a bus, now and then. Only mailboxes whose listener is known to be dead are removed, and directories
 * that are empty; a listener that opens in one at this moment makes it again.
 */
export class MailboxSweep {
  readonly #root: string;
  #visits: AsyncGenerator<void, void, void> | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;
  #isRunning = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** Begins a run in the background, unless one was shortly before; a failure is left to the next. */
  poke(): void {
    const now = performance.now();
    if (this.#isRunning || now - this.#ranAt < PAUSE_MS) return;
    this.#ranAt = now;
    this.#isRunning = true;
    void this.#run()
      .catch(() => {
        this.#visits = undefined;
      })
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #run(): Promise<void> {
    this.#visits ??= visit(this.#root, 0);
    for (let count = 0; count < DIRECTORIES_PER_RUN; count++)
      if ((await this.#visits.next()).done) {
        this.#visits = undefined;
        return;
      }
  }
}

/** Levels of directories above the mailboxes: agent, user and session. */
const LEVELS = 3;

/** Visits the directories below one, deepest first, a step for each. */
async function* visit(directory: string, level: number): AsyncGenerator<void, void, void> {
  for (const path of await folders(directory)) {
    if (level === LEVELS) await removeIfAbandoned(path);
    else {
      yield* visit(path, level + 1);
      // Fails where something is in it.
      await rmdir(path).catch(() => undefined);
    }
    yield;
  }
}

async function folders(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
