import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  InvalidInputError,
  type Slot,
  type SlotInfo,
  type SlotPage,
  type SlotQuery,
  StateCorruptError,
} from "@holdfast/core";
import { checkLimit, matchSlot, pathSegment } from "@holdfast/core/store-kit";
import { documentIds } from "./document/document-ids.js";
import { journalName, listGenerations, snapshotName, sweptName } from "./document/generation.js";
import type { DocumentIds } from "./document/record.js";
import { sweepDeleted } from "./document/sweep-deleted.js";
import { inParallel } from "./io/in-parallel.js";
import { ioReason, isMissing, unavailable } from "./io/io-error.js";
import { slotDirectory, userFolder } from "./layout.js";
import type { ReportSink } from "./report.js";

/** A session's directory, from the root, and when it was last saved. */
interface Entry {
  readonly directory: string;
  readonly savedMs: number;
}

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
  #scan:
    | { readonly filter: string; readonly at: number; readonly entries: readonly Entry[] }
    | undefined;

  constructor(root: string, report: ReportSink) {
    this.#root = root;
    this.#report = report;
  }

  /** @throws InvalidInputError | InvalidIdError | StoreUnavailableError */
  async list(query: SlotQuery): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const matches = matchSlot(query);
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const slots: SlotInfo[] = [];
    let last: Entry | undefined;
    try {
      for (const entry of await this.#entries(query)) {
        if (after !== undefined && compare(entry, after) <= 0) continue;
        const slot = await this.#slotIn(entry);
        if (slot === null || !matches(slot)) continue;
        if (slots.length === limit && last !== undefined)
          return { slots, cursor: writeCursor(last) };
        slots.push({ slot, updatedAt: new Date(entry.savedMs).toISOString() });
        last = entry;
      }
    } catch (error) {
      throw unavailable("list the sessions", error);
    }
    return { slots };
  }

  async #entries(query: SlotQuery): Promise<readonly Entry[]> {
    const filter = JSON.stringify([query.agentId, query.userId]);
    const kept = this.#scan;
    if (query.cursor !== undefined && kept?.filter === filter)
      if (performance.now() - kept.at < SCAN_TTL_MS) return kept.entries;
    const entries = await this.#scanDirectories(query);
    entries.sort(compare);
    this.#scan =
      entries.length > SCAN_KEPT ? undefined : { filter, at: performance.now(), entries };
    return entries;
  }

  async #scanDirectories({ agentId, userId }: SlotQuery): Promise<Entry[]> {
    const sessions: string[] = [];
    const user = userId === undefined ? undefined : userFolder(userId);
    for (const agentFolder of await this.#folders("", agentId && pathSegment(agentId)))
      for (const userFolder of await this.#folders(agentFolder, user))
        sessions.push(...(await this.#folders(userFolder)));
    const entries = await inParallel(sessions, PARALLEL, (directory) => this.#entryOf(directory));
    return entries.filter((entry) => entry !== null);
  }

  async #entryOf(directory: string): Promise<Entry | null> {
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

  async #slotIn({ directory }: Entry): Promise<Slot | null> {
    try {
      const path = join(this.#root, directory);
      const ids = await documentIds(path);
      if (ids === null) {
        await sweepDeleted(path);
        return null;
      }
      const slot = slotOf(ids);
      if (slot !== null && slotDirectory(this.#root, slot) === path) return slot;
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

function slotOf(ids: DocumentIds): Slot | null {
  const [agentId, userId, sessionId] = ids;
  if (typeof agentId !== "string" || typeof sessionId !== "string" || userId === undefined)
    return null;
  return { agentId, userId, sessionId };
}

/** Newest first. */
function compare(a: Entry, b: Entry): number {
  if (a.savedMs !== b.savedMs) return b.savedMs - a.savedMs;
  return a.directory < b.directory ? -1 : a.directory > b.directory ? 1 : 0;
}

function writeCursor({ savedMs, directory }: Entry): string {
  return Buffer.from(JSON.stringify([savedMs, directory])).toString("base64url");
}

function readCursor(cursor: string): Entry {
  try {
    const [savedMs, directory] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (typeof savedMs === "number" && typeof directory === "string") return { savedMs, directory };
  } catch {
    // Falls through to the error for any invalid cursor.
  }
  throw new InvalidInputError("the cursor does not come from a listing of this store");
}
