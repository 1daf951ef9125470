import { type FileNamespace, YieldingClock } from "@holdfast/core/plugin-kit";
import {
  searchWords,
  type TextEntry,
  type TextHit,
  TextIndex,
} from "@holdfast/core/plugin-kit/search";
import type { MemoryFiles } from "../files/memory-files.js";
import { factKey } from "./fact-key.js";
import { lineBlocks } from "./line-blocks.js";
import { memorySources } from "./memory-sources.js";
import { type Note, NoteReader } from "./note-reader.js";

/** A search of a memory. */
export interface MemorySearch {
  readonly query: string;
  readonly maxResults: number;
  readonly signal: AbortSignal;
  /** Most bytes that are searched. @default 16 MB */
  readonly maxBytes?: number | undefined;
}

/** A note that matches a query. */
export interface MemoryFind extends Note {
  readonly path: string;
}

/** Results of a search, best first. */
export interface MemoryFinds {
  readonly finds: readonly MemoryFind[];
  /** False when the query has no word to look for. */
  readonly hasWords: boolean;
  /** Known words that were taken for one that no note has. */
  readonly taken: readonly { readonly word: string; readonly as: readonly string[] }[];
  /** True when the memory was too large to be searched in full; the oldest notes were left out. */
  readonly isPartial: boolean;
  /** Tells whether a word is one that was looked for. */
  isMatch(word: string): boolean;
}

const MAX_BYTES = 16_777_216;
/** Hits that are ranked for each one that is shown: some say the same. */
const SPARE_FACTOR = 4;
/** Notes that enter the index at a time. */
const BATCH = 256;
/** Scores that differ by less than 1/20 of the best one count as equal. */
const STEPS = 20;
const DAY_MS = 86_400_000;

/**
 * Searches a memory for the notes that fit a query, by the same ranking as conversations. Reads the files and keeps no index: a
 * memory is small and changes between two searches.
 *
 * @throws what the signal was aborted with, and errors of the filesystem
 */
export async function searchMemory(
  files: MemoryFiles,
  namespace: FileNamespace,
  { query, maxResults, signal, maxBytes = MAX_BYTES }: MemorySearch,
): Promise<MemoryFinds> {
  const hasWords = /[\p{L}\p{N}]/u.test(query);
  if (!hasWords) return { finds: [], hasWords, taken: [], isPartial: false, isMatch: () => false };
  const clock = new YieldingClock({ signal });
  const notes: MemoryFind[] = [];
  let room = maxBytes;
  let isPartial = false;
  for await (const { path, bytes } of memorySources(files, namespace)) {
    // The end of a file is the newest part.
    const from = Math.max(0, bytes.length - room);
    isPartial ||= from > 0;
    if (room === 0 && isPartial) break;
    room -= bytes.length - from;
    await forEachNote(bytes, from, clock, (note) => void notes.push({ ...note, path }));
  }
  const index = await indexOf(notes, clock);
  const found = await index.search({ query, limit: SPARE_FACTOR * maxResults, clock });
  const finds = distinct(inSteps(found.hits).map(({ position }) => notes[position] as MemoryFind));
  return {
    finds: finds.slice(0, maxResults),
    hasWords,
    taken: found.words
      .filter(({ taken }) => taken.length > 0)
      .map(({ text, taken }) => ({ word: text, as: taken })),
    isPartial,
    isMatch: found.isMatch,
  };
}

/** Puts each file into a group of its own, with the day that it is about. */
async function indexOf(notes: readonly MemoryFind[], clock: YieldingClock): Promise<TextIndex> {
  const index = new TextIndex();
  let at = Date.now() + DAY_MS;
  for (let from = 0; from < notes.length; ) {
    const { path } = notes[from] as MemoryFind;
    const day = Date.parse(/\d{4}-\d{2}-\d{2}/.exec(path)?.[0] ?? "");
    // Files come newest first; one without a day in its name is a little older than the one before it.
    at = Number.isNaN(day) ? at - 1 : Math.min(at - 1, day + DAY_MS - 1);
    const entries: TextEntry[] = [];
    let to = from;
    for (; notes[to]?.path === path && entries.length < BATCH; to++) {
      if (clock.isDue) await clock.tick();
      const { text, heading } = notes[to] as MemoryFind;
      const words = searchWords(text, "all");
      // Words of the note count twice as much as those of its heading.
      words.push(...words, ...searchWords(heading, "all"));
      entries.push({ position: to, at, words });
    }
    index.add(path, entries);
    from = to;
    // The rest of a long file has the same day.
    if (notes[to]?.path === path) at++;
  }
  return index;
}

/** Orders hits of nearly the same score by age: `MEMORY.md` comes first, then newer notes. */
function inSteps(hits: readonly TextHit[]): TextHit[] {
  const best = hits[0]?.score ?? 1;
  const stepOf = ({ score }: TextHit): number => Math.round((STEPS * score) / best);
  return hits.toSorted(
    (one, other) =>
      stepOf(other) - stepOf(one) || other.at - one.at || other.position - one.position,
  );
}

/** Leaves out notes that say the same as a better one. */
function distinct(notes: readonly MemoryFind[]): MemoryFind[] {
  const seen = new Set<string>();
  return notes.filter(({ text }) => {
    const key = factKey(text);
    return !seen.has(key) && seen.add(key);
  });
}

async function forEachNote(
  bytes: Uint8Array,
  from: number,
  clock: YieldingClock,
  look: (note: Note) => void,
): Promise<void> {
  const reader = new NoteReader();
  for (const { firstLine, lines } of lineBlocks(bytes, from)) {
    if (clock.isDue) await clock.tick();
    for (const [index, line] of lines.entries())
      for (const note of reader.push(line, firstLine + index)) {
        if (clock.isDue) await clock.tick();
        look(note);
      }
  }
  for (const note of reader.end()) look(note);
}
