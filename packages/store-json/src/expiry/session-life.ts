import { join } from "node:path";
import type { ConversationLog, Slot } from "@holdfast/core";
import { SessionBusyError } from "@holdfast/core";
import type { SessionExpiry } from "@holdfast/core/store-kit";
import { FileSessionGate } from "../gate/file-session-gate.js";
import { namesIn } from "../io/disk.js";
import { modifiedMs } from "../io/file-time.js";
import { COMPANION_FOLDERS, slotDirectory } from "../layout.js";
import { logPlace } from "../log/log-place.js";
import { type MarkTime, markedMs, markTime, removeMark, writeMark } from "./use-mark.js";

/** A use is written when the last one written is older than this, or than a tenth of `ttlMs`. */
const LONGEST_UNWRITTEN_MS = 60_000;

/** Dependencies of {@link SessionLife}. */
export interface SessionLifeOptions {
  readonly root: string;
  readonly ttlMs: number;
  /** Clock of tests. @default the file system's */
  readonly clock?: (() => Date) | undefined;
  /** Removes the state and the inbox of a session. */
  removeState(slot: Slot): Promise<void>;
  readonly log: Pick<ConversationLog, "delete">;
}

/**
 * Tells which sessions have expired, and removes them.
 *
 * A session's time of last use is that of a mark, a file that loads, saves and calls touch; where there is no recent one, that of
 * the newest of its files: an earlier release, or a store without `ttlMs`, writes no marks. A call that runs or waits, which its
 * ticket at the gate shows, keeps its session.
 */
export class SessionLife implements SessionExpiry {
  readonly time: MarkTime;
  readonly ttlMs: number;
  readonly #options: SessionLifeOptions;
  readonly #unwrittenMs: number;
  readonly #gate: FileSessionGate;
  readonly #logs: Set<Pick<ConversationLog, "delete">>;

  constructor(options: SessionLifeOptions) {
    const { root, ttlMs, clock } = options;
    this.ttlMs = ttlMs;
    this.#options = options;
    this.#logs = new Set([options.log]);
    this.#unwrittenMs = Math.min(ttlMs / 10, LONGEST_UNWRITTEN_MS);
    this.time = markTime(root, clock);
    // Another than the store's, which asks here before it queues.
    this.#gate = new FileSessionGate({ root: join(root, COMPANION_FOLDERS.gates) });
  }

  attachLog(log: Pick<ConversationLog, "delete">): void {
    this.#logs.add(log);
  }

  /** Tells whether a session has expired. */
  async isExpired(slot: Slot): Promise<boolean> {
    const marked = await markedMs(this.#markOf(slot));
    if (marked !== null && this.time.nowMs() - marked < this.ttlMs) return false;
    const gates = slotDirectory(join(this.#options.root, COMPANION_FOLDERS.gates), slot);
    const lastMs = Math.max(await this.#writtenMs(slot), await newestIn(gates));
    if (!(await this.#isLongAgo(lastMs))) return false;
    return (await this.#gate.calls(slot)).length === 0;
  }

  /** Notes that a session is used. */
  async use(slot: Slot): Promise<void> {
    const path = this.#markOf(slot);
    const marked = await markedMs(path);
    if (marked !== null && this.time.nowMs() - marked < this.#unwrittenMs) return;
    await writeMark(path, this.#marksRoot, slot, this.time);
  }

  /** Removes a session that has expired, before something is stored under its ids, and notes that it is used. */
  async begin(slot: Slot): Promise<void> {
    if (await this.isExpired(slot)) await this.remove(slot);
    await this.use(slot);
  }

  /**
   * Removes a session that has expired, with its log and its mark, which goes last: what a process that dies here has left is
   * removed by the next one.
   *
   * It holds the lease on the session meanwhile, so that no call begins, and looks again: a call may have come and gone.
   */
  async remove(slot: Slot): Promise<void> {
    const lease = await this.#gate
      .acquire(slot, { callId: "maintenance:expiry", wait: false })
      .catch((error: unknown) => {
        if (SessionBusyError.is(error)) return null;
        throw error;
      });
    // Another process removes it, or a call has begun.
    if (lease === null) return;
    try {
      if (!(await this.#isLongAgo(await this.#writtenMs(slot)))) return;
      await this.#options.removeState(slot);
      for (const log of this.#logs) await log.delete(slot);
      await removeMark(this.#markOf(slot));
    } finally {
      await lease.release();
    }
  }

  get #marksRoot(): string {
    return join(this.#options.root, COMPANION_FOLDERS.uses);
  }

  #markOf(slot: Slot): string {
    return slotDirectory(this.#marksRoot, slot);
  }

  /** Returns the time of the newest of a session's files, its mark included; in the far past when there are none. */
  async #writtenMs(slot: Slot): Promise<number> {
    const { root } = this.#options;
    const log = logPlace(join(root, COMPANION_FOLDERS.log), slot).file;
    return Math.max(
      (await markedMs(this.#markOf(slot))) ?? Number.NEGATIVE_INFINITY,
      (await modifiedMs(log)) ?? Number.NEGATIVE_INFINITY,
      await newestIn(slotDirectory(root, slot)),
    );
  }

  /** A use may be younger than its mark says. */
  async #isLongAgo(lastMs: number): Promise<boolean> {
    if (lastMs === Number.NEGATIVE_INFINITY) return false;
    return this.time.isOlder(lastMs, this.ttlMs + this.#unwrittenMs);
  }
}

/** Returns the time of the newest file in a directory; in the far past when there is none. */
async function newestIn(directory: string): Promise<number> {
  let newest = Number.NEGATIVE_INFINITY;
  for (const name of await namesIn(directory))
    newest = Math.max(newest, (await modifiedMs(join(directory, name))) ?? newest);
  return newest;
}
