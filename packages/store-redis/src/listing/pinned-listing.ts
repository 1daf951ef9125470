import { createHash } from "node:crypto";
import { readCursor, writeCursor } from "./entry-page.js";
import type { IndexEntry } from "./session-index.js";

/** Entry of a listing; `isLate` when it comes at the end, among those touched since the first page was read. */
export interface PinnedEntry extends IndexEntry {
  readonly isLate: boolean;
}

/** Entries touched at the pin or later that a listing remembers having shown, so that they do not come again. */
const MAX_REMEMBERED = 200;

/**
 * Place of a listing that stays complete while sessions are saved.
 *
 * The cursor pins when the first page was read. First come the entries as they are, newest first; one that is touched before
 * it was reached moves to the front and is missed there. So at the end come the entries touched since the pin, oldest first:
 * whatever is touched meanwhile is then still ahead. Clocks of nodes that differ by more than the time between a touch and a
 * page may hide a session.
 */
export class PinnedListing {
  readonly after: PinnedEntry | undefined;
  readonly pin: number;
  /** The listing began with this selection, so that its end is that of all sessions selected. */
  readonly isWhole: boolean;
  readonly #shown: Set<string>;
  readonly #selection: string;

  /**
   * @param selection - text that tells which sessions the listing goes through
   * @throws InvalidInputError
   */
  constructor(cursor: string | undefined, selection = "") {
    this.#selection = nameOf({ score: 0, member: selection });
    const first: Place = { pin: Date.now(), shown: [], selection: this.#selection };
    const place = cursor === undefined ? first : readPlace(cursor);
    this.after = place.after;
    this.pin = place.pin;
    this.isWhole = place.selection === this.#selection;
    this.#shown = new Set(place.shown);
  }

  /** Entry behind which the late ones continue. */
  get lateAfter(): IndexEntry {
    // Members are never empty: this comes before every entry of the pin's millisecond.
    return this.after?.isLate ? this.after : { score: this.pin, member: "" };
  }

  /** Takes an entry of the first part. */
  early(entry: IndexEntry): PinnedEntry {
    if (entry.score >= this.pin && this.#shown.size < MAX_REMEMBERED)
      this.#shown.add(nameOf(entry));
    return { ...entry, isLate: false };
  }

  /** Takes an entry of the second part; null when it was shown and not touched since. */
  late(entry: IndexEntry): PinnedEntry | null {
    return this.#shown.has(nameOf(entry)) ? null : { ...entry, isLate: true };
  }

  cursorBehind(last: PinnedEntry): string {
    const more = { pin: this.pin, late: last.isLate, shown: [...this.#shown] };
    return writeCursor(last, this.isWhole ? { ...more, of: this.#selection } : more);
  }
}

interface Place {
  readonly after?: PinnedEntry;
  readonly pin: number;
  readonly shown: readonly string[];
  readonly selection?: unknown;
}

function readPlace(cursor: string): Place {
  return readCursor(cursor, (entry, more): Place | undefined => {
    // A cursor of a release that did not pin its listings.
    if (more.length === 0)
      return { after: { ...entry, isLate: false }, pin: Number.MAX_SAFE_INTEGER, shown: [] };
    const { pin, late, shown, of: selection } = Object(more[0]) as Record<string, unknown>;
    if (typeof pin !== "number" || typeof late !== "boolean" || !Array.isArray(shown)) return;
    return { after: { ...entry, isLate: late }, pin, shown: shown.map(String), selection };
  });
}

/** Short name of an entry at its score. */
function nameOf({ score, member }: IndexEntry): string {
  return createHash("sha256").update(`${score} ${member}`).digest("base64url").slice(0, 6);
}
