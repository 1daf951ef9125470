import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "../render/blob-reader.js";
import type { Part } from "../render/part.js";
import { readPage } from "../render/read-page.js";
import type { TextRange } from "./locate-text.js";
import type { Hit } from "./search.js";

/** Approximate length of a snippet. */
const SNIPPET_CHARS = 240;
/** Characters to read before a match. */
const LEAD_CHARS = 200;

/** Returns the text around a match, the match itself marked, and the offset from which to read. */
export async function snippetAt(
  blobs: BlobReader,
  parts: readonly Part[],
  { start, end }: TextRange,
): Promise<Pick<Hit, "snippet" | "offset">> {
  const around = Math.max(SNIPPET_CHARS - (end - start), 0) >> 1;
  const from = Math.max(0, start - around);
  const page = await readPage(blobs, parts, from, SNIPPET_CHARS + (start - from));
  const left = start - page.start;
  const right = Math.max(
    left,
    cutIndex(page.text, Math.min(end - page.start, left + SNIPPET_CHARS)),
  );
  const stop = Math.max(right, cutIndex(page.text, right + around));
  const isShort = page.start + right < end;
  const snippet = [
    page.start > 0 ? "…" : "",
    page.text.slice(0, left),
    "»",
    page.text.slice(left, right),
    isShort ? "…" : "",
    "«",
    isShort ? "" : page.text.slice(right, stop),
    !isShort && page.isLast && stop === page.text.length ? "" : "…",
  ].join("");
  return { snippet: oneLine(snippet), offset: Math.max(0, start - LEAD_CHARS) };
}

/** Replaces line breaks, so that each hit takes one row. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029\v\f]+/g, " ");
}
