import type { ChunkRef } from "./manifest.js";
import { CHUNK_BYTES, joinBytes } from "./split-bytes.js";

/** Most bytes that are kept in the manifest itself, so that small files and small appends are one value. */
export const TAIL_BYTES = 4_096;

const NOTHING: Uint8Array = new Uint8Array();

/** What a change makes of a file. */
export interface Draft {
  /** Chunks that stay. */
  readonly keep: readonly ChunkRef[];
  /** Bytes after them that become new chunks. */
  readonly upload: Uint8Array;
  /** Bytes after those that go into the manifest. */
  readonly tail: Uint8Array;
}

/** A file with this content. */
export function wholeDraft(bytes: Uint8Array): Draft {
  return bytes.length <= TAIL_BYTES
    ? { keep: [], upload: NOTHING, tail: bytes }
    : { keep: [], upload: bytes, tail: NOTHING };
}

/**
 * A file with `bytes` after what is there.
 *
 * Appends gather in the tail. When that is full, it is stored together with the last chunks that are no larger than what
 * is stored: so chunks grow, are few, and each byte is written again only a few times, however large the file is.
 *
 * @param read - the bytes of some chunks; null when one is gone
 * @returns null when a chunk is gone
 */
export async function appendDraft(
  { chunks, tail }: { readonly chunks: readonly ChunkRef[]; readonly tail: Uint8Array },
  bytes: Uint8Array,
  read: (chunks: readonly ChunkRef[]) => Promise<Uint8Array[] | null>,
): Promise<Draft | null> {
  const longer = joinBytes([tail, bytes]);
  if (longer.length <= TAIL_BYTES) return { keep: chunks, upload: NOTHING, tail: longer };
  let first = chunks.length;
  let size = longer.length;
  for (;;) {
    const before = chunks[first - 1];
    if (before === undefined || before.bytes > size || before.bytes + size > CHUNK_BYTES) break;
    size += before.bytes;
    first--;
  }
  const merged = await read(chunks.slice(first));
  if (merged === null) return null;
  return {
    keep: chunks.slice(0, first),
    upload: joinBytes([...merged, longer]),
    tail: NOTHING,
  };
}
