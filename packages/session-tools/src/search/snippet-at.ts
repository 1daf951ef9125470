import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "../render/blob-reader.js";
import type { Part } from "../render/part.js";
import { readPage } from "../render/read-page.js";
import type { Place } from "./locate-text.js";
import type { Hit } from "./search.js";

/** About how long a snippet is. */
const SNIPPET_CHARS = 240;
/** How much in front of a match is read along with it. */
const LEAD_CHARS = 200;

/** The text around a place of a rendering, the place itself marked, and where to begin to read. */
export async function snippetAt(
  blobs: BlobReader,
  parts: readonly Part[],
  { start, end }: Place,
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

/** One row per hit, whatever is in the text. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029\v\f]+/g, " ");
}
