import { type Slot, StateCorruptError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import {
  describeSlot,
  type InboxEntry,
  inboxFull,
  MAX_INBOX_BYTES,
  MAX_INBOX_ENTRIES,
} from "@holdfast/core/store-kit";
import type { Value } from "../connection/session.js";
import { LISTED_NOW } from "../listing/list-position.js";
import {
  encodeEntry,
  entryCount,
  entryStart,
  entryTexts,
  LF,
  withoutEntry,
} from "../state/entry-list.js";

/** Inbox entry ready to be sent. A copy: changing the caller's value afterwards has no effect. */
export interface PreparedEntry {
  readonly id: string;
  readonly isInput: boolean;
  readonly bytes: Buffer;
}

/**
 * Encodes an entry. Call it before the first `await`.
 *
 * @throws StateTooLargeError for one that no inbox can hold
 */
export function prepareEntry(slot: Slot, entry: InboxEntry): PreparedEntry {
  const { kind, ...rest } = entry;
  // The kind comes last, so that a statement can tell inputs by their ends.
  const bytes = encodeEntry("id", { ...rest, kind });
  if (bytes.length > MAX_INBOX_BYTES) throw inboxFull(slot);
  return { id: entry.id, isInput: kind === "input", bytes };
}

/** Decodes the column `inbox`. @throws StateCorruptError */
export function readInbox(slot: Slot, list: Buffer): InboxEntry[] {
  return entryTexts(list).map((text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // The parser's own message quotes the text, and contents stay out of errors.
    }
    if (isRecord(value)) return value as unknown as InboxEntry;
    throw new StateCorruptError(`the stored inbox of ${describeSlot(slot)} is damaged`);
  });
}

const hasRoom = `LENGTH(inbox) + ? <= LEAST(${MAX_INBOX_BYTES}, @@max_allowed_packet) AND ${entryCount("inbox")} < ${MAX_INBOX_ENTRIES}`;
const accepts = `(inbox IS NULL OR (LOCATE(UNHEX(?), inbox) = 0 AND ${hasRoom}))`;

/**
 * Assignments that put an entry unless it is there or there is no room; with {@link puttingValues} as their values.
 *
 * A row without a state takes its place in listings, where it is shown while its inbox holds an input.
 */
export const PUTTING: string = putting("?");

/** Returns {@link PUTTING} with an expression for the bytes of the entry, the last of its values. */
export function putting(bytes: string): string {
  return `listed_at = IF(rev IS NULL, ${LISTED_NOW}, listed_at), unfinished = IF(${accepts}, GREATEST(unfinished, ?), unfinished), inbox = IF(${accepts}, CONCAT(COALESCE(inbox, X''), ${bytes}), inbox)`;
}

/** Values of {@link PUTTING}. */
export function puttingValues({ id, isInput, bytes }: PreparedEntry): readonly Value[] {
  const accepting = [entryStart("id", id), bytes.length];
  return [...accepting, isInput ? 1 : 0, ...accepting, bytes];
}

/** Expression that is 1 when an entry is there or can be put, otherwise 0, with its values. */
export function canPut({ id, bytes }: PreparedEntry): { sql: string; values: readonly Value[] } {
  const start = entryStart("id", id);
  return {
    sql: `IF(LOCATE(UNHEX(?), COALESCE(inbox, X'')) > 0 OR ${accepts}, 1, 0)`,
    values: [start, start, bytes.length],
  };
}

/** End of an entry that is an input, and of the list or the next one: its kind is its last field. */
export const INPUT_END: string = `X'${Buffer.from('"kind":"input"}\n', "utf8").toString("hex")}'`;

/** Condition that an inbox holds the input of a call. */
export const HAS_INPUT: string = hasInput("inbox");

function hasInput(list: string): string {
  return `COALESCE(LOCATE(${INPUT_END}, CONCAT(${list}, ${LF})), 0) > 0`;
}

/** Tells whether an entry is the input of a call. */
export function isInputText(text: string): boolean {
  return text.endsWith('"kind":"input"}');
}

/**
 * Assignments of `unfinished` and, when an entry is dropped, of `inbox`.
 *
 * @param runOpen - whether a run is open after the statement; undefined when that does not change
 * @param drop - id of the entry to remove, if any
 */
export function inboxAfter(
  runOpen: boolean | undefined,
  drop: string | undefined,
): { sql: string; values: readonly Value[] } {
  const list = drop === undefined ? "inbox" : withoutEntry("inbox");
  const start = drop === undefined ? [] : Array(3).fill(entryStart("id", drop));
  const open = runOpen === undefined ? "run_open" : "?";
  // Before the inbox itself: assignments see those to their left.
  const unfinished = `unfinished = IF(${open} = 1 OR ${hasInput(list)}, 1, 0)`;
  return {
    sql: drop === undefined ? unfinished : `${unfinished}, inbox = NULLIF(${list}, X'')`,
    values: [...(runOpen === undefined ? [] : [runOpen ? 1 : 0]), ...start, ...start],
  };
}
