import { InvalidInputError } from "@holdfast/core";

/** A session's directory, from the root, and when it was last saved. */
export interface ScannedSession {
  readonly directory: string;
  readonly savedMs: number;
}

/** Position in a listing. */
export interface ListingCursor {
  /** Last session shown. */
  readonly last: ScannedSession;
  /** Sessions saved at this time or later may have been saved after the first page was read. */
  readonly pinMs: number;
  /** The first part is over: sessions saved since the first page are being shown. */
  readonly isSecondPart: boolean;
}

/** A session that is still to be shown, and the position after it. */
export interface NextSession {
  readonly session: ScannedSession;
  readonly cursor: ListingCursor;
}

/** The times of files run behind by up to the system's clock tick. */
const TICK_MS = 20;

/**
 * Returns the sessions of a new listing, most recently saved first.
 *
 * @param startedMs - time at which the scan that found them began
 */
export function newListing(sessions: readonly ScannedSession[], startedMs: number): NextSession[] {
  const ordered = [...sessions].sort(newestFirst);
  // The newest file counts too: this process's clock may be ahead of the system's.
  const newestMs = ordered[0]?.savedMs ?? startedMs;
  const pinMs = Math.min(startedMs - TICK_MS, newestMs + TICK_MS);
  return ordered.map((session) => ({
    session,
    cursor: { last: session, pinMs, isSecondPart: false },
  }));
}

/**
 * Returns the sessions that a listing has still to show after a cursor, from a later scan.
 *
 * Sessions not saved since its first page come first, in the order in which they would have come then. Those saved since come
 * at the end, in an order that no save changes. So none is missed, however often it is saved; some may come twice.
 */
export function continuedListing(
  sessions: readonly ScannedSession[],
  { last, pinMs, isSecondPart }: ListingCursor,
): NextSession[] {
  const unchanged = sessions
    .filter(({ savedMs }) => !isSecondPart && savedMs < pinMs)
    .filter((session) => newestFirst(session, last) > 0)
    .sort(newestFirst);
  const savedSince = sessions
    .filter(({ savedMs }) => savedMs >= pinMs)
    .filter(({ directory }) => !isSecondPart || directory > last.directory)
    .sort(byDirectory);
  const next = (session: ScannedSession, isSecond: boolean): NextSession => ({
    session,
    cursor: { last: session, pinMs, isSecondPart: isSecond },
  });
  return [
    ...unchanged.map((session) => next(session, false)),
    ...savedSince.map((session) => next(session, true)),
  ];
}

/** Tells whether two cursors are the same position in the same listing. */
export function isSameCursor(a: ListingCursor, b: ListingCursor): boolean {
  return (
    newestFirst(a.last, b.last) === 0 && a.pinMs === b.pinMs && a.isSecondPart === b.isSecondPart
  );
}

/** Encodes a cursor. */
export function writeCursor({ last, pinMs, isSecondPart }: ListingCursor): string {
  const parts = [last.savedMs, last.directory, pinMs, isSecondPart];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Decodes a cursor. @throws InvalidInputError */
export function readCursor(cursor: string): ListingCursor {
  try {
    const parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    // Releases before the pin wrote only the first two.
    const [savedMs, directory, pinMs = savedMs, isSecondPart = false] = parts;
    if (typeof savedMs === "number" && typeof directory === "string")
      if (typeof pinMs === "number" && typeof isSecondPart === "boolean")
        return { last: { savedMs, directory }, pinMs, isSecondPart };
  } catch {
    // Falls through to the error for any invalid cursor.
  }
  throw new InvalidInputError(
    "the cursor does not come from a listing of this store; leave the cursor out to begin anew",
  );
}

function newestFirst(a: ScannedSession, b: ScannedSession): number {
  return b.savedMs - a.savedMs || byDirectory(a, b);
}

function byDirectory(a: ScannedSession, b: ScannedSession): number {
  return a.directory < b.directory ? -1 : a.directory > b.directory ? 1 : 0;
}
