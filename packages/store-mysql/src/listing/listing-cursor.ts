import { isRecord } from "@holdfast/core/plugin-kit";
import { LIST_START, type ListPosition, readCursor } from "./list-position.js";

/** Start of the next page of a listing of states. */
export interface ListingCursor {
  /** Time before which all saves were visible to the first page; `null` when it was not read yet. */
  readonly pin: string | null;
  /** Position after which the sessions are still to come that were not moved since; `null` when all of them were shown. */
  readonly position: ListPosition | null;
  /** Of the sessions moved since, those with a greater key are still to come. */
  readonly movedAfter: Buffer;
  /** Starts of the keys of sessions that were shown already although they were saved since `pin`. */
  readonly shown: readonly Buffer[];
}

const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/;
const KEY = /^[0-9a-f]{64}$/;
const SHOWN = /^(?:[0-9a-f]{12})*$/;
/** Bytes of the start of a key: no two sessions of a listing share it. */
const START_BYTES = 6;
/** Sessions that a cursor remembers; those beyond it may come twice. */
const MAX_SHOWN = 200;

const startOfListing: ListingCursor = {
  pin: null,
  position: LIST_START,
  movedAfter: Buffer.alloc(32),
  shown: [],
};

/** Adds sessions to those that a cursor remembers. */
export function withShown(
  shown: readonly Buffer[],
  more: readonly { readonly k: Buffer }[],
): readonly Buffer[] {
  return [...shown, ...more.map(({ k }) => k.subarray(0, START_BYTES))].slice(0, MAX_SHOWN);
}

/** Encodes a cursor. */
export function writeListingCursor({ pin, position, movedAfter, shown }: ListingCursor): string {
  const value = {
    pin,
    at: position?.listedAt ?? null,
    k: (position?.k ?? movedAfter).toString("hex"),
    shown: Buffer.concat(shown).toString("hex"),
  };
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/**
 * Decodes a cursor; without one, returns the start of a listing. One of an earlier release is a position alone: what comes
 * before it is shown again at the end.
 *
 * @throws InvalidInputError
 */
export function readListingCursor(cursor: string | undefined): ListingCursor {
  if (cursor === undefined) return startOfListing;
  const { pin, at, k, shown } = parse(cursor);
  const isPlace = at === null || matches(at, TIME);
  if (!matches(pin, TIME) || !matches(k, KEY) || !matches(shown, SHOWN) || !isPlace) {
    const position = readCursor(cursor);
    return { ...startOfListing, pin: position.listedAt, position };
  }
  const key = Buffer.from(k, "hex");
  const starts = Buffer.from(shown, "hex");
  return {
    pin,
    position: at === null ? null : { listedAt: at, k: key },
    movedAfter: at === null ? key : startOfListing.movedAfter,
    shown: Array.from({ length: starts.length / START_BYTES }, (_, index) =>
      starts.subarray(index * START_BYTES, (index + 1) * START_BYTES),
    ),
  };
}

function parse(cursor: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function matches(value: unknown, form: RegExp): value is string {
  return typeof value === "string" && form.test(value);
}
