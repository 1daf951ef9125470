import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "./blob-reader.js";

/** A long string that the log keeps as a blob. */
export interface BlobPiece {
  readonly ref: string;
  /** True inside a JSON string. */
  readonly isEscaped: boolean;
}

/** Piece of a rendering: text, or the blob that holds it. */
export type Piece = string | BlobPiece;

/**
 * A part of a rendered message.
 *
 * `label` is text that the rendering adds or that is not searched; `text` is verbatim; `json` is an input of a tool or a
 * quoted name.
 */
export interface Part {
  readonly kind: "label" | "text" | "json";
  /** True for a call or a result of a session tool, which repeats what is said elsewhere. */
  readonly isEcho: boolean;
  readonly pieces: readonly Piece[];
}

/** Characters of a chunk; other work may run between two. */
const CHUNK_CHARS = 16_384;

/** Yields the text of a part in chunks; none is empty or ends within a character. */
export async function* partChunks(blobs: BlobReader, { pieces }: Part): AsyncGenerator<string> {
  for (const piece of pieces) {
    const isText = typeof piece === "string";
    const text = isText ? piece : await blobs.read(piece.ref);
    for (let start = 0; start < text.length; ) {
      const end = cutIndex(text, start + CHUNK_CHARS);
      const chunk = start === 0 && end === text.length ? text : text.slice(start, end);
      // Each character is escaped by itself, so the chunks joined are the whole text, escaped.
      yield isText || !piece.isEscaped ? chunk : JSON.stringify(chunk).slice(1, -1);
      start = end;
      await blobs.clock.tick();
    }
  }
}
