import type { TokenCounter } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { dayPath, type MemoryFiles, withoutNoteEnds } from "../files/memory-files.js";
import { cutMiddle } from "../quote/cut-text.js";
import type { UserEntry } from "./user-entries.js";

/** Notes that `MEMORY.md` does not have yet. */
export interface NewNotes {
  readonly pages: readonly NotesPage[];
  /** Bytes of each file that are consumed once these notes are merged. */
  readonly consumed: Readonly<Record<string, number>>;
  /** True when there are more. */
  readonly hasMore: boolean;
}

/** New notes of one day. */
export interface NotesPage {
  readonly path: string;
  readonly text: string;
}

const NEWLINE = 0x0a;
/** Lines up to this length are never cut. */
const LONG_LINE_CHARS = 1_000;

/** Returns the days whose notes are not consumed, or not all of them. */
export function unconsumedDays(days: readonly FileInfo[], { consumed }: UserEntry): FileInfo[] {
  return days.filter(({ path, bytes }) => bytes !== (consumed[path] ?? 0));
}

/** Reads the oldest new notes, up to about `maxTokens`; null when there are none. */
export async function newNotes(
  files: MemoryFiles,
  namespace: FileNamespace,
  entry: UserEntry,
  limits: { readonly maxTokens: number; readonly counter: TokenCounter; readonly now: Date },
): Promise<NewNotes | null> {
  const { maxTokens, counter, now } = limits;
  const consumed: Record<string, number> = {};
  const pages: NotesPage[] = [];
  let room = maxTokens;
  for (const { path } of unconsumedDays(await files.days(namespace), entry)) {
    if (room <= 0) return { pages, consumed, hasMore: true };
    const bytes = await files.readBytes(namespace, path);
    if (bytes === null) continue;
    const done = entry.consumed[path] ?? 0;
    // Shorter than before, or no line ends here: the file was rewritten, and all of it is new.
    const isSame = done <= bytes.length && (done === 0 || bytes[done - 1] === NEWLINE);
    const start = isSame ? done : 0;
    // Only whole lines of today's file: the last one may be half written.
    const end = path < dayPath(now) ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
    const take = endWithin(bytes, start, end, room, counter);
    if (take <= start) continue;
    const text = textOf(bytes, start, take);
    const tokens = counter.countText(text);
    if (tokens > room && pages.length > 0) return { pages, consumed, hasMore: true };
    room -= tokens;
    consumed[path] = take;
    // A single line longer than a request: no flush writes that, but another program may have.
    const shown = tokens > maxTokens ? cutMiddle(text, Math.max(maxTokens, LONG_LINE_CHARS)) : text;
    if (shown.trim() !== "") pages.push({ path, text: shown });
    if (take < end) return { pages, consumed, hasMore: true };
  }
  return Object.keys(consumed).length === 0 ? null : { pages, consumed, hasMore: false };
}

/** Returns the end of the notes from `start` that fit: the end of a line, and never `start`, however long the first line is. */
function endWithin(
  bytes: Uint8Array,
  start: number,
  end: number,
  maxTokens: number,
  counter: TokenCounter,
): number {
  const fits = (to: number): boolean => counter.countText(textOf(bytes, start, to)) <= maxTokens;
  if (end <= start || fits(end)) return end;
  let size = end - start;
  for (;;) {
    size >>= 1;
    const cut = size < 2 ? 0 : bytes.lastIndexOf(NEWLINE, start + size - 1) + 1;
    if (cut <= start) break;
    if (fits(cut)) return cut;
  }
  const line = bytes.indexOf(NEWLINE, start) + 1;
  return line === 0 || line > end ? end : line;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return withoutNoteEnds(new TextDecoder().decode(bytes.subarray(start, end)));
}
