import type { Revision } from "@holdfast/core";
import {
  MAX_REPLACED,
  REMEMBERED_CHANGES,
  revisionSeq,
  type SavedChange,
} from "@holdfast/core/store-kit";
import type { Value } from "../connection/session.js";
import { digest } from "../keys.js";
import type { PreparedWrite } from "./prepare-write.js";
import { MARK_BYTES, markedRevision, markOf, shortRevision } from "./revision-mark.js";

/*
 * Ledger of the latest changes in one column, which the statement of a save extends without reading it first: 4 bytes that tell the
 * lease of the last save, 0 for none, and then entries, newest first, of
 *
 *   revision it led to      8 bytes, its mark
 *   messages kept           3 bytes
 *   number of replaced      1 byte
 *   replaced positions      3 bytes each
 *
 * An entry is the change from the revision of the one behind it. The last has none behind it and only names its revision; one that was
 * cut off where the column ends is ignored. All of it is short, because the server logs it with every turn.
 */

/** Bytes of the tag of a lease, and of a number of messages. */
export const TAG_BYTES = 4;
export const COUNT_BYTES = 3;
const ENTRY_BYTES = MARK_BYTES + COUNT_BYTES + 1;

/** Bytes of the column: an entry that replaces messages takes the place of others. */
const LEDGER_BYTES = TAG_BYTES + ENTRY_BYTES * (REMEMBERED_CHANGES + 1);

/** Positions of the front entry, its kept messages and what follows them, counted from 1. */
const FRONT_AT = TAG_BYTES + 1;
const KEEP_AT = FRONT_AT + MARK_BYTES;
const BEHIND_KEEP_AT = KEEP_AT + COUNT_BYTES;

/** The front entry, with this save's revision and the smaller number of kept messages. */
const JOINED = `CONCAT(UNHEX(?), LEAST(SUBSTRING(changes, ${KEEP_AT}, ${COUNT_BYTES}), UNHEX(?)), SUBSTRING(changes, ${BEHIND_KEEP_AT}))`;
/**
 * Only an entry that leads to the revision this save starts from can be followed: otherwise a release without this ledger has
 * saved since. A save of the same lease joins the front entry: the steps of a run are one change.
 */
const FOLLOWED = `changes = LEFT(IF(SUBSTRING(changes, ${FRONT_AT}, ${MARK_BYTES}) = UNHEX(?),
IF(LEFT(changes, ${TAG_BYTES}) = UNHEX(?), ${JOINED}, CONCAT(UNHEX(?), SUBSTRING(changes, ${FRONT_AT}))),
UNHEX(?)), ${LEDGER_BYTES})`;

/** Assignment of the ledger after a save. */
export function changesAfter(write: PreparedWrite): { sql: string; values: readonly Value[] } {
  const { expected, revision, keep, replaced, lease } = write;
  const from = expected === null ? undefined : markOf(expected);
  const to = markOf(revision);
  if (from === undefined || to === undefined || !isRemembered(write))
    return { sql: "changes = NULL", values: [] };
  const tag = tagOf(lease);
  const front = [tag, entryOf(to, keep, replaced)];
  const values = [
    // No tag is empty: a save without a lease, or one that replaces messages, joins none.
    ...[[from], lease !== undefined && replaced.length === 0 ? [tag] : []],
    ...[[tag, to], [countBytes(keep)]],
    ...[front, [...front, entryOf(from, 0, [])]],
  ];
  // As hex text: servers differ in how they interpret binary values here.
  return { sql: FOLLOWED, values: values.map((parts) => Buffer.concat(parts).toString("hex")) };
}

/** Tells whether a change is short enough for a ledger. */
export function isRemembered({
  keep,
  replaced,
}: Pick<PreparedWrite, "keep" | "replaced">): boolean {
  return replaced.length <= MAX_REPLACED && keep < 2 ** (8 * COUNT_BYTES);
}

/**
 * Decodes the column. Revisions in it are named as by `shortRevision`.
 *
 * @param present - the stored revision: a ledger that does not lead to it is of no use
 */
export function readChanges(column: Buffer, present: Revision): readonly SavedChange[] {
  const entries = entriesIn(column, revisionSeq(present));
  if (entries[0]?.to !== shortRevision(present)) return [];
  return entries
    .slice(0, -1)
    .map((entry, index) => ({ ...entry, from: entries[index + 1]?.to ?? "" }));
}

interface Entry {
  readonly to: Revision;
  readonly keep: number;
  readonly replaced: readonly number[];
}

/** @param newest - number of the newest revision, from which those of the others are completed */
function entriesIn(column: Buffer, newest: number): Entry[] {
  const entries: Entry[] = [];
  for (let at = TAG_BYTES; at + ENTRY_BYTES <= column.length; ) {
    const replaced = column.readUInt8(at + ENTRY_BYTES - 1);
    const end = at + ENTRY_BYTES + replaced * COUNT_BYTES;
    if (end > column.length) break;
    const mark = column.subarray(at, at + MARK_BYTES);
    entries.push({ to: markedRevision(mark, newest), ...readKept(column, at + MARK_BYTES) });
    at = end;
  }
  return entries;
}

function entryOf(to: Buffer, keep: number, replaced: readonly number[]): Buffer {
  return Buffer.concat([to, keptBytes(keep, replaced)]);
}

/** Encodes the numbers of an entry: of messages kept, of replaced ones, and the positions of these. */
export function keptBytes(keep: number, replaced: readonly number[]): Buffer {
  return Buffer.concat([
    countBytes(keep),
    Buffer.from([replaced.length]),
    ...replaced.map(countBytes),
  ]);
}

/** Decodes {@link keptBytes}. */
export function readKept(bytes: Buffer, at: number): Pick<SavedChange, "keep" | "replaced"> {
  const number = bytes.readUInt8(at + COUNT_BYTES);
  const replaced = Array.from({ length: number }, (_, index) =>
    bytes.readUIntBE(at + COUNT_BYTES + 1 + index * COUNT_BYTES, COUNT_BYTES),
  );
  return { keep: bytes.readUIntBE(at, COUNT_BYTES), replaced };
}

/** Tag of a lease. The saves of two leases with the same one would merely count as one change. */
export function tagOf(lease: string | undefined): Buffer {
  return lease === undefined ? Buffer.alloc(TAG_BYTES) : digest(lease).subarray(0, TAG_BYTES);
}

/** Encodes a number of messages. */
export function countBytes(value: number): Buffer {
  const bytes = Buffer.alloc(COUNT_BYTES);
  bytes.writeUIntBE(value, 0, COUNT_BYTES);
  return bytes;
}
