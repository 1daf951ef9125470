import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "./blob-reader.js";
import type { Part } from "./part.js";

/** Characters that are looked at at once, before others may work. */
const CHUNK_CHARS = 16_384;

/** The text of a part, a stretch at a time; no stretch is empty and none ends within a character. */
export async function* partChunks(blobs: BlobReader, { pieces }: Part): AsyncGenerator<string> {
  for (const piece of pieces) {
    const isText = typeof piece === "string";
    const text = isText ? piece : await blobs.read(piece.ref);
    for (let start = 0; start < text.length; ) {
      const end = cutIndex(text, start + CHUNK_CHARS);
      const chunk = start === 0 && end === text.length ? text : text.slice(start, end);
      // Escaping goes by the character, so the stretches put together are the whole, escaped.
      yield isText || !piece.isEscaped ? chunk : JSON.stringify(chunk).slice(1, -1);
      start = end;
      await blobs.clock.tick();
    }
  }
}
