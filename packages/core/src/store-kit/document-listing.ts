import { InvalidInputError } from "../errors/errors.js";
import { isRecord } from "../json/json.js";
import type { SlotInfo } from "../ports/agent-state-store.js";
import type { StateDocument } from "./state-document.js";

/** What orders a listing: time of the save, then the save's op (made in order by one process), then the key. */
export type Position = readonly [updatedAt: string, op: string, key: string];

/** One session in a listing. */
export interface ListedDocument {
  readonly info: SlotInfo;
  readonly position: Position;
}

/** Where a listing goes on: which keys of the client to look at, and behind which of the sessions found there. */
export interface ListingCursor {
  readonly keys: string | null;
  readonly after: Position | null;
}

/** What a listing says about a document. */
export function listedDocument(key: string, document: StateDocument): ListedDocument {
  const { slot, updatedAt, messages, ops } = document;
  const { agentId, userId, sessionId } = slot;
  return {
    info: { slot: { agentId, userId, sessionId }, updatedAt, messages: messages.length },
    position: [updatedAt, ops.at(-1)?.[0] ?? "", key],
  };
}

/** Negative when `a` comes first: the newer one does. */
export function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part > other ? -1 : 1;
  }
  return 0;
}

/** The text form of a cursor. */
export function writeListingCursor({ keys, after }: ListingCursor): string {
  return Buffer.from(JSON.stringify({ keys, after }), "utf8").toString("base64url");
}

/**
 * The inverse of {@link writeListingCursor}; the start when there is none.
 *
 * @throws InvalidInputError
 */
export function readListingCursor(text: string | undefined): ListingCursor {
  if (text === undefined) return { keys: null, after: null };
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (isRecord(value) && isKeys(value["keys"]) && isPosition(value["after"]))
      return { keys: value["keys"], after: value["after"] };
  } catch {
    // Said below.
  }
  throw new InvalidInputError("the cursor is not one of this store's listings");
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
