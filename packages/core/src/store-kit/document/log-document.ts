import { createHash } from "node:crypto";
import { hashKey } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { ExtractedBlobs } from "../log/blobs.js";
import { logRecordText } from "../log/log-record.js";
import type { DocumentChange } from "./shared-documents.js";

/** Text of a record and its seq. */
export interface StoredRecord {
  readonly seq: number;
  readonly text: string;
}

/** Full page of records, in a document of its own that is never changed. */
export interface LogPage {
  /** Hash that names the page's document. */
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

/** Stored form of the log of one slot: the newest records, and an index of what lies in other documents. */
export interface LogDocument {
  readonly v: 1;
  /** Names this log among all that the slot had: long texts of a deleted one are never taken for its own. */
  readonly generation: string;
  /** Seq of the newest record. */
  readonly seq: number;
  /** Full pages, oldest first. */
  readonly pages: readonly LogPage[];
  /** Records behind the last page, oldest first. */
  readonly open: readonly StoredRecord[];
  /** Hashes of the ids of all records, {@link ID_CHARS} characters each: a repeated record is recognised however old it is. */
  readonly ids: string;
  /** References of the long texts of this slot, named before they are written: a delete finds also what a dead process left. */
  readonly blobs: readonly string[];
  /** Page that is being written of the first open records; named before it is, as a long text is. */
  readonly pending?: LogPage | undefined;
  /**
   * The log was deleted, and this is its tombstone: a client cannot delete a document only if it is unchanged. Documents that
   * it still names have to go.
   */
  readonly isDeleted?: boolean | undefined;
}

/** Full page, as stored. */
export interface PageDocument {
  readonly v: 1;
  readonly records: readonly StoredRecord[];
}

/** Long text, as stored. */
export interface BlobDocument {
  readonly v: 1;
  readonly text: string;
}

/** Characters of a hashed id: 72 bits. */
const ID_CHARS = 12;

/** Records and characters after which a page is full. */
const PAGE_RECORDS = 100;
const PAGE_CHARS = 131_072;

/** Tells whether a stored value has the form of a log. */
export function isLogDocument(value: Record<string, unknown>): boolean {
  const { generation, seq, pages, open, ids, blobs } = value;
  return (
    Number.isSafeInteger(seq) &&
    [pages, open, blobs].every(Array.isArray) &&
    [generation, ids].every((text) => typeof text === "string")
  );
}

/** Returns the name of the document that holds a long text of a log. */
export function blobName({ generation }: Pick<LogDocument, "generation">, ref: string): string {
  return hashKey(`${generation}|${ref}`);
}

/** Tells whether a log has records, or may have. */
export function isLive(stored: LogDocument | null): stored is LogDocument {
  return stored !== null && stored.isDeleted !== true;
}

/** Tells whether documents of a deleted log still have to go. */
export function isHalfDeleted(stored: LogDocument | null): stored is LogDocument {
  return stored?.isDeleted === true && pagesOf(stored).length + stored.blobs.length > 0;
}

/** Returns the pages that may have a document. */
export function pagesOf({ pages, pending }: LogDocument): readonly LogPage[] {
  return pending === undefined ? pages : [...pages, pending];
}

/** Names long texts that are about to be written, and begins a log where there is none; the result is the one that names them. */
export function nameBlobs(
  stored: LogDocument | null,
  refs: Iterable<string>,
): DocumentChange<LogDocument, LogDocument> {
  const log = logOrNew(stored);
  const blobs = [...new Set([...log.blobs, ...refs])];
  if (log === stored && blobs.length === log.blobs.length) return { result: log };
  const next = { ...log, blobs };
  return { next, result: next };
}

/** Returns the log that is there, or a new one. */
function logOrNew(stored: LogDocument | null): LogDocument {
  if (stored !== null && stored.isDeleted !== true) return stored;
  const none = { pages: [], open: [], ids: "", blobs: [] };
  return { v: 1, generation: uuidv7(), seq: stored?.seq ?? 0, ...none };
}

/** Deletes the records of a log; the result tells whether there was one. */
export function deleteRecords(stored: LogDocument | null): DocumentChange<LogDocument, boolean> {
  if (!isLive(stored)) return { result: isHalfDeleted(stored) };
  return { next: { ...stored, isDeleted: true, open: [], ids: "" }, result: true };
}

/** Result of an append. */
export interface Appended {
  /** The log began with these records. */
  readonly isNew: boolean;
  /** The open records fill a page. */
  readonly isFull: boolean;
}

/** Appends the records whose ids the log does not have. */
export function appendRecords(
  stored: LogDocument | null,
  records: readonly ExtractedBlobs[],
): DocumentChange<LogDocument, Appended> {
  const log = logOrNew(stored);
  // Storing long texts may have begun it.
  const isNew = log.ids === "";
  const known = new Set(idsOf(log.ids));
  const blobs = new Set(log.blobs);
  const open = [...log.open];
  let { seq, ids } = log;
  for (const { draft, references } of records) {
    const id = hashedId(draft.id);
    if (known.has(id)) continue;
    known.add(id);
    ids += id;
    seq++;
    const record = { ...draft, seq, ...(references.length > 0 && { blobs: references }) };
    open.push({ seq, text: logRecordText(record) });
    for (const { ref } of references) blobs.add(ref);
  }
  const result = { isNew, isFull: isPageFull({ open }) };
  if (seq === log.seq) return { result: { ...result, isNew: false } };
  return { next: { ...log, seq, ids, open, blobs: [...blobs] }, result };
}

/** Tells whether the open records fill a page. */
function isPageFull({ open }: Pick<LogDocument, "open">): boolean {
  if (open.length >= PAGE_RECORDS) return true;
  return open.reduce((chars, { text }) => chars + text.length, 0) >= PAGE_CHARS;
}

/** Page to be stored, and its records. */
export interface BegunPage extends Pick<PageDocument, "records"> {
  readonly page: LogPage;
}

/** Names the page that the open records fill; the result is the one begun before when there is one, `null` when they fill none. */
export function beginPage(
  stored: LogDocument | null,
): DocumentChange<LogDocument, BegunPage | null> {
  if (!isLive(stored)) return { result: null };
  const { open, pending } = stored;
  // Every process that goes on with a page writes the same: a record never changes.
  if (pending !== undefined)
    return { result: { page: pending, records: recordsOf(open, pending) } };
  const [first, last] = [open.at(0), open.at(-1)];
  if (first === undefined || last === undefined || !isPageFull(stored)) return { result: null };
  const page = { name: hashKey(uuidv7()), first: first.seq, last: last.seq };
  return { next: { ...stored, pending: page }, result: { page, records: open } };
}

/** Moves records that were stored as a page out of the log; the result is `false` when they are not there any more. */
export function sealPage(
  stored: LogDocument | null,
  page: LogPage,
): DocumentChange<LogDocument, boolean> {
  if (!isLive(stored)) return { result: false };
  if (stored.pending?.name !== page.name)
    return { result: stored.pages.some(({ name }) => name === page.name) };
  const log = { ...stored, pending: undefined };
  // A process of an earlier release made another page of them.
  if (stored.open[0]?.seq !== page.first) return { next: log, result: false };
  const open = stored.open.filter(({ seq }) => seq > page.last);
  return { next: { ...log, pages: [...stored.pages, page], open }, result: true };
}

function recordsOf(open: readonly StoredRecord[], { first, last }: LogPage): StoredRecord[] {
  return open.filter(({ seq }) => seq >= first && seq <= last);
}

function hashedId(id: string): string {
  return createHash("sha256").update(id, "utf8").digest("base64url").slice(0, ID_CHARS);
}

function idsOf(ids: string): string[] {
  return ids.match(new RegExp(`.{${ID_CHARS}}`, "g")) ?? [];
}
