import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type SessionInfo,
  type Slot,
  type SlotInfo,
  type SlotPage,
  type SlotQuery,
  StateCorruptError,
} from "@holdfast/core";
import { checkLimit, listedInfo, matchSlot, pathSegment } from "@holdfast/core/store-kit";
import { documentTitle } from "./document/document-title.js";
import { journalName, listGenerations, snapshotName, sweptName } from "./document/generation.js";
import type { DocumentIds } from "./document/record.js";
import { sweepDeleted } from "./document/sweep-deleted.js";
import { entryFiles } from "./inbox/entry-file.js";
import { inParallel } from "./io/in-parallel.js";
import { ioReason, isMissing, unavailable } from "./io/io-error.js";
import { slotDirectory, userFolder } from "./layout.js";
import {
  continuedListing,
  isSameCursor,
  type ListingCursor,
  type NextSession,
  newListing,
  readCursor,
  type ScannedSession,
  writeCursor,
} from "./listing-order.js";
import type { ReportSink } from "./report.js";

/** Directories read in parallel. */
const PARALLEL = 16;
/** Time for which later pages reuse the scan of the first one. */
const SCAN_TTL_MS = 30_000;
/** Larger scans are not kept. */
const SCAN_KEPT = 50_000;

/** Lists the sessions below a root, newest first, by the times of their files. */
export class SlotListing {
  readonly #root: string;
  readonly #report: ReportSink;
  readonly #isExpired: (slot: Slot) => Promise<boolean>;
  /** The sessions of the last listing, for its next pages. */
  #kept:
    | { readonly filter: string; readonly at: number; readonly sessions: readonly NextSession[] }
    | undefined;

  /** @param isExpired - tells whether a session has expired, and is not to be shown */
  constructor(
    root: string,
    report: ReportSink,
    isExpired: (slot: Slot) => Promise<boolean> = async () => false,
  ) {
    this.#root = root;
    this.#report = report;
    this.#isExpired = isExpired;
  }

  /** @throws InvalidInputError | InvalidIdError | StoreUnavailableError */
  async list(query: SlotQuery): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const matches = matchSlot(query);
    const isListed = ({ slot, info }: SlotInfo): boolean =>
      matches(slot) && (query.unfinished !== true || info?.unfinished === true);
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const slots: SlotInfo[] = [];
    let last: NextSession | undefined;
    try {
      const sessions = await this.#sessions(query, after);
      for (let next = 0; next < sessions.length; ) {
        const some = sessions.slice(next, next + Math.min(PARALLEL, limit - slots.length + 1));
        next += some.length;
        const infos = await inParallel(some, PARALLEL, ({ session }) => this.#infoOf(session));
        for (const [index, info] of infos.entries()) {
          if (info === null || !isListed(info)) continue;
          if (slots.length === limit && last !== undefined)
            return { slots, cursor: writeCursor(last.cursor) };
          slots.push(info);
          last = some[index];
        }
      }
    } catch (error) {
      throw unavailable("list the sessions", error);
    }
    return { slots };
  }

  /** Returns the sessions still to be shown. */
  async #sessions(
    query: SlotQuery,
    after: ListingCursor | undefined,
  ): Promise<readonly NextSession[]> {
    const filter = JSON.stringify([query.agentId, query.userId]);
    if (after !== undefined && this.#kept?.filter === filter) {
      const { at, sessions } = this.#kept;
      const index = sessions.findIndex(({ cursor }) => isSameCursor(cursor, after));
      if (index !== -1 && performance.now() - at < SCAN_TTL_MS) return sessions.slice(index + 1);
    }
    const startedMs = Date.now();
    const found = await this.#scanDirectories(query);
    const sessions =
      after === undefined ? newListing(found, startedMs) : continuedListing(found, after);
    this.#kept =
      sessions.length > SCAN_KEPT ? undefined : { filter, at: performance.now(), sessions };
    return sessions;
  }

  async #scanDirectories({ agentId, userId }: SlotQuery): Promise<ScannedSession[]> {
    const sessions: string[] = [];
    const user = userId === undefined ? undefined : userFolder(userId);
    for (const agentFolder of await this.#folders("", agentId && pathSegment(agentId)))
      for (const userFolder of await this.#folders(agentFolder, user))
        sessions.push(...(await this.#folders(userFolder)));
    const scanned = await inParallel(sessions, PARALLEL, (directory) => this.#scan(directory));
    return scanned.filter((session) => session !== null);
  }

  async #scan(directory: string): Promise<ScannedSession | null> {
    try {
      const path = join(this.#root, directory);
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

  async #infoOf({ directory, savedMs }: ScannedSession): Promise<SlotInfo | null> {
    try {
      const path = join(this.#root, directory);
      const title = await documentTitle(path);
      if (title === null) {
        await sweepDeleted(path);
        return null;
      }
      const slot = slotOf(title.ids);
      if (slot !== null && slotDirectory(this.#root, slot) === path) {
        if (await this.#isExpired(slot)) return null;
        const saved =
          title.info === undefined ? undefined : (JSON.parse(title.info) as SessionInfo);
        const hasInput = entryFiles(title.names).some(({ kind }) => kind === "input");
        const info = listedInfo(saved, hasInput);
        const listed = { slot, updatedAt: new Date(savedMs).toISOString() };
        return info === undefined ? listed : { ...listed, info };
      }
      this.#report({
        kind: "entry_skipped",
        message: "skipped a session's directory: its files belong to another session",
      });
    } catch (error) {
      this.#skip(error);
    }
    return null;
  }

  /** Returns the subdirectories, or only the one named; none when the directory does not exist. */
  async #folders(directory: string, only?: string): Promise<string[]> {
    try {
      const entries = await readdir(join(this.#root, directory), { withFileTypes: true });
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
    // Removed meanwhile.
    if (isMissing(error)) return;
    this.#report({
      kind: "entry_skipped",
      message: `skipped a session's directory: ${StateCorruptError.is(error) ? error.message : ioReason(error)}`,
      cause: error,
    });
  }
}

/** Returns the slot that the ids of a state name; null when they are not those of a slot. */
export function slotOf(ids: DocumentIds): Slot | null {
  const [agentId, userId, sessionId] = ids;
  if (typeof agentId !== "string" || typeof sessionId !== "string" || userId === undefined)
    return null;
  return { agentId, userId, sessionId };
}
