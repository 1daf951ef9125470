import { InvalidInputError } from "@holdfast/core";
import type { Value } from "../connection/session.js";

/** A position in a listing of sessions. */
export interface ListPosition {
  /** `listed_at`, as {@link LISTED_AT} writes it. */
  readonly listedAt: string;
  readonly k: Buffer;
}

/** Position before every session. */
export const LIST_START: ListPosition = {
  listedAt: "9999-12-31 00:00:00.000000",
  k: Buffer.alloc(32, 255),
};

/** Order of the indexes, which end with the primary key. */
export const LIST_ORDER = "ORDER BY listed_at DESC, k DESC";
/** The column as text, to the microsecond: how a driver converts a time depends on its options. */
export const LISTED_AT = "DATE_FORMAT(listed_at, '%Y-%m-%d %H:%i:%s.%f')";
/** Condition for rows after a position, with {@link positionValues} as its values. */
export const AFTER_POSITION =
  "listed_at <= CAST(? AS DATETIME(6)) AND (listed_at < CAST(? AS DATETIME(6)) OR k < ?)";
/**
 * Value of `listed_at` set by a write of a state or a log. Listings are in order to the minute: moving an index entry with every
 * write would cost more than the write.
 */
export const LISTED_NOW =
  "IF(listed_at > UTC_TIMESTAMP(6) - INTERVAL 60 SECOND, listed_at, UTC_TIMESTAMP(6))";

const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/;

/** Values of {@link AFTER_POSITION}. */
export function positionValues({ listedAt, k }: ListPosition): readonly Value[] {
  return [listedAt, listedAt, k];
}

/** Encodes a position as the cursor of a listing. */
export function writeCursor({ listedAt, k }: ListPosition): string {
  return Buffer.from(`${listedAt}${k.toString("hex")}`, "utf8").toString("base64url");
}

/**
 * Decodes a cursor; without one, returns the start of a listing.
 *
 * @throws InvalidInputError
 */
export function readCursor(cursor: string | undefined): ListPosition {
  if (cursor === undefined) return LIST_START;
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const [listedAt, hex] = [text.slice(0, 26), text.slice(26)];
  if (!TIME.test(listedAt) || !/^[0-9a-f]{64}$/.test(hex))
    throw new InvalidInputError(
      "the cursor is not one of this store's listings; leave the cursor out to begin anew",
    );
  return { listedAt, k: Buffer.from(hex, "hex") };
}
