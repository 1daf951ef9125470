import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import {
  type SessionInfo,
  type Slot,
  type SlotInfo,
  type SlotQuery,
  StateCorruptError,
} from "@holdfast/core";
import { listedInfo, pathSegment } from "@holdfast/core/store-kit";
import { type DocumentTitle, documentTitle } from "./document/document-title.js";
import { journalName, listGenerations, snapshotName, sweptName } from "./document/generation.js";
import type { DocumentIds } from "./document/record.js";
import { sweepDeleted } from "./document/sweep-deleted.js";
import { entryFiles } from "./inbox/entry-file.js";
import { inParallel } from "./io/in-parallel.js";
import { ioReason, isMissing } from "./io/io-error.js";
import { COMPANION_FOLDERS, slotDirectory, userFolder } from "./layout.js";
import type { ScannedSession } from "./listing-order.js";
import type { ReportSink } from "./report.js";
import type { WaitingMarks } from "./waiting-marks.js";

/** Directories read in parallel. */
const PARALLEL = 16;
/** Names the mark of a session that was found waiting without any. */
const FOUND = "found waiting";

/** Which sessions a scan is for. */
type Owners = Pick<SlotQuery, "agentId" | "userId">;

/** Dependencies of {@link SessionScan}. */
export interface SessionScanOptions {
  readonly root: string;
  readonly report: ReportSink;
  readonly marks: WaitingMarks;
  /** Tells whether a session has expired, and is not to be shown. */
  isExpired(slot: Slot): Promise<boolean>;
}

/** Finds the directories of sessions below a root, and what listings show of them. */
export class SessionScan {
  readonly #options: SessionScanOptions;
  /** Number of directories that could not be read. */
  #unread = 0;

  constructor(options: SessionScanOptions) {
    this.#options = options;
  }

  /** Returns the sessions that may exist. */
  async all(owners: Owners): Promise<ScannedSession[]> {
    return this.#scanEach(await this.#sessionFolders("", owners));
  }

  /**
   * Returns the sessions that may wait for an answer: those that are marked. While that was not done yet, all sessions are
   * looked at first, and marked if they wait: an earlier release wrote no marks.
   */
  async waiting(owners: Owners): Promise<ScannedSession[]> {
    const { marks } = this.#options;
    if (!(await marks.isComplete()) && !(await this.#markAll())) return this.all(owners);
    const { waiting } = COMPANION_FOLDERS;
    const marked = await this.#sessionFolders(waiting, owners);
    const directories = marked.map((directory) => relative(waiting, directory));
    const scanned = await this.#scanEach(directories);
    const found = new Set(scanned.map(({ directory }) => directory));
    for (const directory of directories)
      if (!found.has(directory)) await this.removeStale(directory);
    return scanned;
  }

  /** Returns what a listing shows of a session; null when it does not exist or cannot be read. */
  async look({ directory, savedMs }: ScannedSession): Promise<SlotInfo | null> {
    const { root, report, isExpired } = this.#options;
    try {
      const path = join(root, directory);
      const title = await documentTitle(path);
      if (title === null) {
        await sweepDeleted(path);
        return null;
      }
      const slot = slotOf(title.ids);
      if (slot !== null && slotDirectory(root, slot) === path) {
        if (await isExpired(slot)) return null;
        const hasInput = entryFiles(title.names).some(({ kind }) => kind === "input");
        const info = listedInfo(savedInfo(title), hasInput);
        const listed = { slot, updatedAt: new Date(savedMs).toISOString() };
        return info === undefined ? listed : { ...listed, info };
      }
      report({
        kind: "entry_skipped",
        message: "skipped a session's directory: its files belong to another session",
      });
    } catch (error) {
      this.#skip(error);
    }
    return null;
  }

  /** Removes old marks of a session that was not shown as waiting, if it is certain that it does not wait. */
  async removeStale(directory: string): Promise<void> {
    const { root, marks } = this.#options;
    try {
      const title = await documentTitle(join(root, directory));
      if (title === null || savedInfo(title)?.waiting !== true) await marks.removeStale(directory);
    } catch {
      // Left to the next listing.
    }
  }

  /** Marks every session that waits; returns false when that cannot be said of all. */
  async #markAll(): Promise<boolean> {
    const { marks } = this.#options;
    const unread = this.#unread;
    try {
      await inParallel(await this.all({}), PARALLEL, async (session) => {
        const listed = await this.look(session);
        if (listed?.info?.waiting !== true) return;
        if ((await marks.of(listed.slot)).length === 0) await marks.add(listed.slot, FOUND);
      });
      if (this.#unread === unread) await marks.setComplete();
    } catch (error) {
      // A disk that refuses writes can still be listed.
      this.#skip(error);
    }
    return this.#unread === unread;
  }

  /** Returns the directories of sessions below a folder, in which they are laid out as below the root. */
  async #sessionFolders(below: string, { agentId, userId }: Owners): Promise<string[]> {
    const sessions: string[] = [];
    const user = userId === undefined ? undefined : userFolder(userId);
    for (const agentFolder of await this.#folders(below, agentId && pathSegment(agentId)))
      for (const userFolder of await this.#folders(agentFolder, user))
        sessions.push(...(await this.#folders(userFolder)));
    return sessions;
  }

  async #scanEach(directories: readonly string[]): Promise<ScannedSession[]> {
    const scanned = await inParallel(directories, PARALLEL, (directory) => this.#scan(directory));
    return scanned.filter((session) => session !== null);
  }

  async #scan(directory: string): Promise<ScannedSession | null> {
    try {
      const path = join(this.#options.root, directory);
      const current = (await listGenerations(path))?.current;
      if (current === undefined || current === null) return null;
      const start = current.snapshot === "swept" ? sweptName : snapshotName;
      const name = (current.journal ? journalName : start)(current.number);
      return { directory, savedMs: (await stat(join(path, name))).mtimeMs };
    } catch (error) {
      this.#skip(error);
      return null;
    }
  }

  /** Returns the subdirectories, or only the one named; none when the directory does not exist. */
  async #folders(directory: string, only?: string): Promise<string[]> {
    try {
      const path = join(this.#options.root, directory);
      const entries = await readdir(path, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("@"))
        .filter((entry) => only === undefined || entry.name === only)
        .map((entry) => join(directory, entry.name));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #skip(error: unknown): void {
    // A damaged session is not listed, whatever it says.
    if (!StateCorruptError.is(error)) this.#unread++;
    // Removed meanwhile, or written anew.
    if (isMissing(error)) return;
    this.#options.report({
      kind: "entry_skipped",
      message: `skipped a session's directory: ${StateCorruptError.is(error) ? error.message : ioReason(error)}`,
      cause: error,
    });
  }
}

function savedInfo({ info }: DocumentTitle): SessionInfo | undefined {
  return info === undefined ? undefined : (JSON.parse(info) as SessionInfo);
}

/** Returns the slot that the ids of a state name; null when they are not those of a slot. */
export function slotOf(ids: DocumentIds): Slot | null {
  const [agentId, userId, sessionId] = ids;
  if (typeof agentId !== "string" || typeof sessionId !== "string" || userId === undefined)
    return null;
  return { agentId, userId, sessionId };
}
