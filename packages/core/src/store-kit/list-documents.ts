import { InvalidInputError } from "../errors/errors.js";
import { HoldfastError } from "../errors/holdfast-error.js";
import { isRecord } from "../json/json.js";
import type { SlotInfo, SlotPage, SlotQuery } from "../ports/agent-state-store.js";
import { slotKey } from "../slot/slot.js";
import { checkLimit, matchSlot } from "./check-query.js";
import { boundedRead } from "./deadline.js";
import { type DocumentClient, parseStateDocument, type StateDocument } from "./state-document.js";

/** Keys that are read and sorted together: this many sessions are exactly in order. */
const WINDOW = 1_000;
const PARALLEL_READS = 16;

/** Client and keys of the documents. */
export interface DocumentSource {
  readonly client: DocumentClient;
  readonly keyPrefix: string;
  readonly commandTimeoutMs: number;
}

/** Lists one page of the sessions in `source`, newest first among every {@link WINDOW} keys. */
export async function listDocuments(source: DocumentSource, query: SlotQuery): Promise<SlotPage> {
  const limit = checkLimit(query.limit, 100);
  const matches = matchSlot(query);
  let at = readListingCursor(query.cursor);
  for (;;) {
    const { after, keys } = at;
    const window = await readWindow(source, keys ?? undefined);
    const found = window.documents
      .filter(({ info }) => matches(info.slot))
      .filter(({ position }) => after === null || comparePositions(after, position) < 0)
      .sort((a, b) => comparePositions(a.position, b.position));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last !== undefined) at = { keys, after: last.position };
    else if (window.next !== undefined) at = { keys: window.next, after: null };
    else return { slots: page.map(({ info }) => info) };
    if (last !== undefined)
      return { slots: page.map(({ info }) => info), cursor: writeListingCursor(at) };
  }
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

/** Start of the next page: the client's cursor, and the position after which to go on among the sessions found there. */
interface ListingCursor {
  readonly keys: string | null;
  readonly after: Position | null;
}

/** Returns the entry of a document. */
function listedDocument(key: string, document: StateDocument): ListedDocument {
  const { slot, updatedAt, messages, ops } = document;
  const { agentId, userId, sessionId } = slot;
  return {
    info: { slot: { agentId, userId, sessionId }, updatedAt, messages: messages.length },
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

/** Returns the text form of a cursor. */
function writeListingCursor({ keys, after }: ListingCursor): string {
  return Buffer.from(JSON.stringify({ keys, after }), "utf8").toString("base64url");
}

/**
 * Reads the text form of a cursor; without one a listing starts at the beginning.
 *
 * @throws InvalidInputError
 */
function readListingCursor(text: string | undefined): ListingCursor {
  if (text === undefined) return { keys: null, after: null };
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (isRecord(value) && isKeys(value["keys"]) && isPosition(value["after"]))
      return { keys: value["keys"], after: value["after"] };
  } catch {
    // Refused below.
  }
  throw new InvalidInputError("the cursor does not come from a listing of this store");
}

function isKeys(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isPosition(value: unknown): value is Position | null {
  return (
    value === null ||
    (Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string"))
  );
}
