import { HoldfastError, InvalidInputError } from "@holdfast/core";
import {
  cutIndex,
  type FileInfo,
  type FileNamespace,
  YieldingClock,
} from "@holdfast/core/plugin-kit";
import { MAX_ANSWER_CHARS } from "./answer-rows.js";
import { decodeText, type FileView } from "./file-view.js";
import { type LineSearch, lineSearch, type Span } from "./line-search.js";

/** Limits of a search. */
export interface SearchLimits {
  readonly maxMatches: number;
  readonly maxMatchesPerLine: number;
  readonly maxFiles: number;
  /** Of all searched files together. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Limits of `grep_files`. */
export const searchLimits: SearchLimits = {
  maxMatches: 100,
  maxMatchesPerLine: 10,
  maxFiles: 10_000,
  maxBytes: 134_217_728,
  timeoutMs: 20_000,
};

/** Characters of text shown around a match. */
const SNIPPET_CHARS = 200;

/** Pattern to search for, and the files to search. */
export interface SearchRequest {
  readonly namespace: FileNamespace;
  readonly pattern: string;
  readonly regex: boolean;
  readonly files: readonly FileInfo[];
  readonly limits: SearchLimits;
  readonly signal: AbortSignal;
}

/** Result of a search. */
export interface SearchReport {
  readonly rows: readonly string[];
  /** Number of files that were searched. */
  readonly searched: number;
  /** Number of files that are not text or could not be read. */
  readonly skipped: number;
  /** Reason why the search ended before all files were searched. */
  readonly stopped?: string | undefined;
}

/** Searches files for a pattern, line by line, and lets other work run meanwhile. */
export async function searchFiles(view: FileView, request: SearchRequest): Promise<SearchReport> {
  const { namespace, files, limits, signal } = request;
  const search = lineSearch(request.pattern, request.regex);
  const clock = new YieldingClock({ timeoutMs: limits.timeoutMs, signal });
  const rows: string[] = [];
  let [searched, skipped, bytes, chars] = [0, 0, 0, 0];
  const report = (stopped?: string): SearchReport => ({ rows, searched, skipped, stopped });
  for (const { path, bytes: size } of files) {
    if (searched + skipped >= limits.maxFiles) return report(`after ${limits.maxFiles} files`);
    if (bytes + size > limits.maxBytes) return report(`after ${bytes} bytes`);
    const text = await readText(view, namespace, path);
    bytes += size;
    if (text === null) skipped++;
    else {
      searched++;
      for await (const row of matchRows(path, text, search, limits, clock)) {
        if (rows.length >= limits.maxMatches) return report(`after ${limits.maxMatches} matches`);
        chars += row.length + 1;
        if (chars > MAX_ANSWER_CHARS) return report(`after ${MAX_ANSWER_CHARS} characters`);
        rows.push(row);
      }
    }
    await clock.tick();
    if (clock.isUp) return report(`after ${limits.timeoutMs} ms`);
  }
  return report();
}

async function readText(
  view: FileView,
  namespace: FileNamespace,
  path: string,
): Promise<string | null> {
  try {
    const file = await view.read(namespace, path);
    return file && decodeText(file.bytes);
  } catch (error) {
    // One file that is refused (too large, replaced by a link) must not hide what is in the others.
    if (InvalidInputError.is(error) || (HoldfastError.is(error) && error.code === "TOO_LARGE"))
      return null;
    throw error;
  }
}

async function* matchRows(
  path: string,
  text: string,
  search: LineSearch,
  limits: SearchLimits,
  clock: YieldingClock,
): AsyncGenerator<string> {
  let line = 1;
  for (let start = 0; start <= text.length; line++) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const content = text.slice(start, end);
    const matches = search.search(content);
    let count = 0;
    for (let next = matches.next(); !next.done; ) {
      if (next.value === undefined) {
        await clock.tick();
        if (clock.isUp) return;
        next = matches.next();
        continue;
      }
      if (++count > limits.maxMatchesPerLine) {
        yield `${path}:${line}: … more matches in this line`;
        break;
      }
      const shown = snippet(content, next.value);
      yield `${path}:${line}:${shown.at}${shown.text}`;
      next = matches.next(shown.end);
    }
    start = end + 1;
    if (!clock.isDue) continue;
    await clock.tick();
    if (clock.isUp) return;
  }
}

/** Returns the text around a match; for a line that is not shown whole, with the character to read from. */
function snippet(line: string, match: Span): { text: string; at: string; end: number } {
  if (line.length <= SNIPPET_CHARS * 2)
    return { text: ` ${visible(line)}`, at: "", end: line.length + 1 };
  const start = cutIndex(line, match.start - SNIPPET_CHARS / 2);
  const end = cutIndex(line, match.start + SNIPPET_CHARS);
  const text = `${start > 0 ? "…" : ""}${visible(line.slice(start, end))}${end < line.length ? "…" : ""}`;
  return { text: ` ${text}`, at: ` (char_offset ${match.start})`, end };
}

/** Replaces line separators, so that each match takes one row. */
function visible(text: string): string {
  return text.replace(/[\r\u2028\u2029\v\f]/g, " ");
}
