import type { SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { checkLimit, matchInfo, matchSlot } from "@holdfast/core/store-kit";
import { inParallel } from "./io/in-parallel.js";
import { unavailable } from "./io/io-error.js";
import {
  continuedListing,
  isSameCursor,
  type ListingCursor,
  type NextSession,
  newListing,
  readCursor,
  writeCursor,
} from "./listing-order.js";
import type { SessionScan } from "./session-scan.js";

/** Sessions looked at in parallel. */
const PARALLEL = 16;
/** Time for which later pages reuse the scan of the first one. */
const SCAN_TTL_MS = 30_000;
/** Larger scans are not kept. */
const SCAN_KEPT = 50_000;

/** Lists the sessions below a root, newest first, by the times of their files. */
export class SlotListing {
  readonly #scan: SessionScan;
  /** The sessions of the last listing, for its next pages. */
  #kept:
    | { readonly filter: string; readonly at: number; readonly sessions: readonly NextSession[] }
    | undefined;

  constructor(scan: SessionScan) {
    this.#scan = scan;
  }

  /** @throws InvalidInputError | InvalidIdError | StoreUnavailableError */
  async list(query: SlotQuery): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const [matches, isSelected] = [matchSlot(query), matchInfo(query)];
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const slots: SlotInfo[] = [];
    let last: NextSession | undefined;
    try {
      const sessions = await this.#sessions(query, after);
      for (let next = 0; next < sessions.length; ) {
        const some = sessions.slice(next, next + Math.min(PARALLEL, limit - slots.length + 1));
        next += some.length;
        const infos = await inParallel(some, PARALLEL, async ({ session }) => {
          const info = await this.#scan.look(session);
          if (query.waiting === true && info?.info?.waiting !== true)
            await this.#scan.removeStale(session.directory);
          return info;
        });
        for (const [index, info] of infos.entries()) {
          if (info === null || !matches(info.slot) || !isSelected(info.info)) continue;
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
    const { agentId, userId, waiting = false } = query;
    const filter = JSON.stringify([agentId, userId, waiting]);
    if (after !== undefined && this.#kept?.filter === filter) {
      const { at, sessions } = this.#kept;
      const index = sessions.findIndex(({ cursor }) => isSameCursor(cursor, after));
      if (index !== -1 && performance.now() - at < SCAN_TTL_MS) return sessions.slice(index + 1);
    }
    const startedMs = Date.now();
    const found = waiting ? await this.#scan.waiting(query) : await this.#scan.all(query);
    const sessions =
      after === undefined ? newListing(found, startedMs) : continuedListing(found, after);
    this.#kept =
      sessions.length > SCAN_KEPT ? undefined : { filter, at: performance.now(), sessions };
    return sessions;
  }
}
