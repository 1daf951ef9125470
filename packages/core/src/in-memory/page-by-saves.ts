import { strangeCursor } from "../store-kit/check-query.js";

/** Places of a session in the order of all saves. */
export interface SavePositions {
  /** Position of the last save. */
  readonly position: number;
  /** Position of the first save. */
  readonly firstPosition: number;
}

/** Place in a listing. */
interface ListingCursor {
  /** Position of the newest save when the first page was read. */
  readonly pin: number;
  /** Of the sessions not saved since `pin`, those saved before this position are still to come. */
  readonly before: number;
  /** Of the sessions saved since `pin`, those first saved after this position are still to come. */
  readonly after: number;
}

/**
 * Returns one page of sessions, most recently saved first.
 *
 * Sessions that are saved after the first page was read come at the end, in an order that no save changes; so a listing misses
 * none of the sessions that existed when it began, and it ends.
 *
 * @param sessions - all that the listing is about, oldest save first
 * @param newest - position of the newest save of all
 * @throws InvalidInputError when the cursor is not one of these listings
 */
export function pageBySaves<T extends SavePositions>(
  sessions: readonly T[],
  newest: number,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): { page: T[]; cursor?: string } {
  const start =
    cursor === undefined ? { pin: newest, before: newest + 1, after: 0 } : readCursor(cursor);
  const { pin } = start;
  const unchanged = sessions.filter(({ position }) => position <= pin && position < start.before);
  const savedSince = sessions
    .filter(({ position }) => position > pin)
    .filter(({ firstPosition }) => firstPosition <= pin && firstPosition > start.after)
    .sort((a, b) => a.firstPosition - b.firstPosition);
  const rest = [...unchanged.reverse(), ...savedSince];
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined || rest.length <= limit) return { page };
  const next: ListingCursor =
    last.position <= pin
      ? { pin, before: last.position, after: 0 }
      : { pin, before: 0, after: last.firstPosition };
  return { page, cursor: writeCursor(next) };
}

function writeCursor({ pin, before, after }: ListingCursor): string {
  return [pin, before, after].join(".");
}

function readCursor(cursor: string): ListingCursor {
  const [pin, before, after, ...more] = cursor.split(".").map(Number);
  if (!isPosition(pin) || !isPosition(before) || !isPosition(after) || more.length > 0)
    throw strangeCursor("store");
  return { pin, before, after };
}

function isPosition(value: number | undefined): value is number {
  return Number.isSafeInteger(value);
}
