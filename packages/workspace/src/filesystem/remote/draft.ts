import type { ChunkRef } from "./manifest.js";
import { CHUNK_BYTES, joinBytes } from "./split-bytes.js";

/** Most bytes kept in the manifest itself, so that a small file, or a small append, takes one value. */
const TAIL_BYTES = 4_096;

const NOTHING: Uint8Array = new Uint8Array();

/** Planned content of a file. */
export interface Draft {
  /** Chunks that are kept. */
  readonly keep: readonly ChunkRef[];
  /** Bytes after those that become new chunks. */
  readonly upload: Uint8Array;
  /** Bytes at the end that go into the manifest. */
  readonly tail: Uint8Array;
}

/** Plans a file with this content. */
export function wholeDraft(bytes: Uint8Array): Draft {
  return bytes.length <= TAIL_BYTES
    ? { keep: [], upload: NOTHING, tail: bytes }
    : { keep: [], upload: bytes, tail: NOTHING };
}

/**
 * Plans a file with `bytes` appended.
 *
 * Appends collect in the tail. A full tail is merged with the last chunks that are no larger than it and stored anew: so
 * there are few chunks, and each byte is rewritten only a few times, however large the file is.
 *
 * @param read - reads chunks; null when one is gone
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
