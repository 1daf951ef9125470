import { HoldfastError } from "../errors/holdfast-error.js";
import { isRecord } from "../json/json.js";
import type { SlotInfo, SlotPage, SlotQuery } from "../ports/agent-state-store.js";
import { slotKey } from "../slot/slot.js";
import { checkLimit, matchInfo, matchSlot, strangeCursor } from "./check-query.js";
import { boundedRead } from "./deadline.js";
import { type DocumentClient, parseStateDocument, type StateDocument } from "./state-document.js";

/** Keys that are read and sorted together: this many sessions are exactly in order. */
const WINDOW = 1_000;
const PARALLEL_READS = 16;
/** Windows that one page reads without finding a session before it ends empty, with a cursor. */
const MAX_WINDOWS = 10;

/** Client and keys of the documents. */
export interface DocumentSource {
  readonly client: DocumentClient;
  readonly keyPrefix: string;
  readonly commandTimeoutMs: number;
}

/**
 * Lists one page of the sessions in `source`, newest first among every {@link WINDOW} keys. A client lists nothing but its keys,
 * so `unfinished` and `waiting` are looked up in every document.
 */
export async function listDocuments(source: DocumentSource, query: SlotQuery): Promise<SlotPage> {
  const limit = checkLimit(query.limit, 100);
  const matches = matchSlot(query);
  const isSelected = matchInfo(query);
  let at = readListingCursor(query.cursor);
  for (let windows = 1; ; windows++) {
    const { keys } = at;
    const window = await readWindow(source, keys ?? undefined);
    const pin = at.pin ?? newestPosition(window.documents);
    const found = remaining(window.documents, { ...at, pin }).filter(
      ({ info }) => matches(info.slot) && isSelected(info.info),
    );
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last !== undefined)
      at = isNewer(last.position, pin)
        ? { keys, pin, after: at.after, savedSince: last.position[2] }
        : { keys, pin, after: last.position, savedSince: null };
    else if (window.next !== undefined) at = { ...startOfListing, keys: window.next };
    else return { slots: page.map(({ info }) => info) };
    if (last !== undefined || windows === MAX_WINDOWS)
      return { slots: page.map(({ info }) => info), cursor: writeListingCursor(at) };
  }
}

/**
 * Returns the sessions of a window that are still to come: first those in their place since the first page, newest first,
 * then those saved since, by key, an order that no save changes.
 */
function remaining(
  documents: readonly ListedDocument[],
  { pin, after, savedSince }: ListingCursor,
): ListedDocument[] {
  const inPlace = documents
    .filter(({ position }) => savedSince === null && !isNewer(position, pin))
    .filter(({ position }) => after === null || isNewer(after, position))
    .sort((a, b) => comparePositions(a.position, b.position));
  const moved = documents
    .filter(({ position }) => isNewer(position, pin))
    .filter(({ position }) => savedSince === null || position[2] > savedSince)
    .sort((a, b) => (a.position[2] < b.position[2] ? -1 : 1));
  return [...inPlace, ...moved];
}

/** Reads the sessions of the client's next keys, at least {@link WINDOW} of them if there are. */
async function readWindow(
  source: DocumentSource,
  start: string | undefined,
): Promise<{ documents: ListedDocument[]; next: string | undefined }> {
  const keys = new Set<string>();
  let cursor = start;
  do {
    const page = await read(source, () => source.client.list(cursor));
    for (const key of page.keys) if (isOurs(source, key)) keys.add(key);
    cursor = page.cursor;
  } while (cursor !== undefined && keys.size < WINDOW);
  const documents: ListedDocument[] = [];
  const waiting = [...keys];
  while (waiting.length > 0) {
    const batch = waiting.splice(-PARALLEL_READS);
    const found = await Promise.all(batch.map((key) => readListed(source, key)));
    for (const document of found) if (document !== null) documents.push(document);
  }
  return { documents, next: cursor };
}

async function readListed(source: DocumentSource, key: string): Promise<ListedDocument | null> {
  const found = await read(source, () => source.client.get(key));
  if (found === null) return null;
  try {
    const document = parseStateDocument(found.value, "a listed session");
    const isInPlace = source.keyPrefix + slotKey(document.slot) === key;
    return isInPlace ? listedDocument(key, document) : null;
  } catch (error) {
    // One session that cannot be read must not hide all others; loading it throws the reason.
    if (HoldfastError.is(error)) return null;
    throw error;
  }
}

function read<T>(source: DocumentSource, run: () => Promise<T>): Promise<T> {
  return boundedRead("listing sessions", source.commandTimeoutMs, run);
}

function isOurs({ keyPrefix }: DocumentSource, key: string): boolean {
  return key.startsWith(keyPrefix) && /^[a-z2-7]{52}$/.test(key.slice(keyPrefix.length));
}

/** Order of a listing: time of the save, then the save's op (made in order by one process), then the key. */
type Position = readonly [updatedAt: string, op: string, key: string];

/** Session in a listing, with its position. */
interface ListedDocument {
  readonly info: SlotInfo;
  readonly position: Position;
}

/** Start of the next page. */
interface ListingCursor {
  /** The client's cursor, at which the window starts. */
  readonly keys: string | null;
  /** Newest position when the first page of the window was read; `null` when it was not read yet. */
  readonly pin: Position | null;
  /** Position after which to go on among the sessions that were not saved since. */
  readonly after: Position | null;
  /** Key after which to go on among the sessions that were; `null` before the first of them. */
  readonly savedSince: string | null;
}

const startOfListing: ListingCursor = { keys: null, pin: null, after: null, savedSince: null };

/** Returns the entry of a document. */
function listedDocument(key: string, document: StateDocument): ListedDocument {
  const { slot, updatedAt, messages, ops, info } = document;
  const { agentId, userId, sessionId } = slot;
  const listed = { slot: { agentId, userId, sessionId }, updatedAt, messages: messages.length };
  return {
    info: info === undefined ? listed : { ...listed, info },
    position: [updatedAt, ops.at(-1)?.[0] ?? "", key],
  };
}

/** Compares two positions: negative when `a` is newer and comes first. */
function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part > other ? -1 : 1;
  }
  return 0;
}

function isNewer(position: Position, than: Position | null): boolean {
  return than !== null && comparePositions(position, than) < 0;
}

function newestPosition(documents: readonly ListedDocument[]): Position | null {
  let newest: Position | null = null;
  for (const { position } of documents)
    if (newest === null || isNewer(position, newest)) newest = position;
  return newest;
}

/** Returns the text form of a cursor. */
function writeListingCursor(cursor: ListingCursor): string {
  return Buffer.from(JSON.stringify(cursor), "utf8").toString("base64url");
}

/**
 * Reads the text form of a cursor; without one a listing starts at the beginning.
 *
 * @throws InvalidInputError
 */
function readListingCursor(text: string | undefined): ListingCursor {
  if (text === undefined) return startOfListing;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (isRecord(value)) {
      const { keys, after, pin = after, savedSince = null } = value;
      if (isText(keys) && isPosition(after) && isPosition(pin) && isText(savedSince))
        return { keys, after, pin, savedSince };
    }
  } catch {
    // Refused below.
  }
  throw strangeCursor("store");
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isPosition(value: unknown): value is Position | null {
  return (
    value === null ||
    (Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string"))
  );
}
