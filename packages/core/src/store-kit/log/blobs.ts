import { createHash } from "node:crypto";
import { isWellFormed } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import type { BlobReference, LogDraft } from "../../ports/conversation-log.js";

/** Longest string kept in a log record, in UTF-8 bytes; longer ones are stored separately, once per slot. */
export const MAX_INLINE_BYTES = 65_536;

/** Record without its long strings, and those strings. */
export interface ExtractedBlobs {
  /** Record with an empty string in place of each long one. */
  readonly draft: LogDraft;
  readonly references: readonly BlobReference[];
  /** Long strings by their `ref`. */
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * Takes every string over {@link MAX_INLINE_BYTES} out of a record's message; `withBlobs` puts them back.
 *
 * Strings with lone surrogates stay in place: UTF-8 cannot hold them.
 */
export function extractBlobs(draft: LogDraft): ExtractedBlobs {
  const references: BlobReference[] = [];
  const blobs = new Map<string, string>();
  if (draft.message === undefined) return { draft, references, blobs };
  const message = visit(draft.message, [], (text, path) => {
    const ref = blobRef(text);
    references.push({ path, ref, bytes: Buffer.byteLength(text, "utf8") });
    blobs.set(ref, text);
  });
  if (references.length === 0) return { draft, references, blobs };
  return { draft: { ...draft, message: message as Message }, references, blobs };
}

/** Returns the reference of a blob: `sha256:<hex>` of its UTF-8 bytes. */
export function blobRef(text: string): string {
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/** Returns a copy of `value` without its long strings, or the value itself when it has none. */
function visit(
  value: unknown,
  path: readonly (string | number)[],
  take: (text: string, path: readonly (string | number)[]) => void,
): unknown {
  if (typeof value === "string") {
    if (!isLong(value) || !isWellFormed(value)) return value;
    take(value, path);
    return "";
  }
  if (typeof value !== "object" || value === null) return value;
  let changed = false;
  const visitChild = (child: unknown, key: string | number): unknown => {
    const visited = visit(child, [...path, key], take);
    changed ||= visited !== child;
    return visited;
  };
  if (Array.isArray(value)) {
    const items = value.map(visitChild);
    return changed ? items : value;
  }
  const entries = Object.entries(value).map(([key, child]) => [key, visitChild(child, key)]);
  // fromEntries defines properties: "__proto__" stays an ordinary key.
  return changed ? Object.fromEntries(entries) : value;
}

function isLong(text: string): boolean {
  if (text.length > MAX_INLINE_BYTES) return true;
  return text.length * 3 > MAX_INLINE_BYTES && Buffer.byteLength(text, "utf8") > MAX_INLINE_BYTES;
}
