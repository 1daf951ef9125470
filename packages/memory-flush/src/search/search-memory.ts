import { type FileNamespace, YieldingClock } from "@holdfast/core/plugin-kit";
import type { MemoryFiles } from "../files/memory-files.js";
import { BestMatches } from "./best-matches.js";
import { lineBlocks } from "./line-blocks.js";
import { memorySources } from "./memory-sources.js";
import { type Note, NoteReader } from "./note-reader.js";
import { Ranking } from "./ranking.js";
import { TermQuery } from "./term-query.js";

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
  /** Terms of the query; without any, nothing is found. */
  readonly terms: readonly string[];
  /** True when the memory was too large to be searched in full; the oldest notes were left out. */
  readonly isPartial: boolean;
}

const MAX_BYTES = 16_777_216;

/**
 * Searches a memory for notes with the words of a query. Reads the files and keeps no index: a memory is small and changes
 * between two searches.
 *
 * @throws what the signal was aborted with, and errors of the filesystem
 */
export async function searchMemory(
  files: MemoryFiles,
  namespace: FileNamespace,
  search: MemorySearch,
): Promise<MemoryFinds> {
  const query = new TermQuery(search.query);
  const { terms } = query;
  if (terms.length === 0) return { finds: [], terms, isPartial: false };
  const clock = new YieldingClock({ signal: search.signal });
  const ranking = new Ranking(terms);
  let room = search.maxBytes ?? MAX_BYTES;
  let isPartial = false;
  let file = 0;
  for await (const { path, bytes } of memorySources(files, namespace)) {
    // The end of a file is the newest part.
    const from = Math.max(0, bytes.length - room);
    isPartial ||= from > 0;
    if (room === 0 && isPartial) break;
    room -= bytes.length - from;
    const look = (note: Note): void => {
      const counts = query.count(note.text, note.heading);
      ranking.add(counts && { ...note, path, file, counts });
    };
    await forEachNote(bytes, from, clock, look);
    file++;
  }
  return { finds: await bestOf(ranking, search.maxResults, clock), terms, isPartial };
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

async function bestOf(ranking: Ranking, size: number, clock: YieldingClock): Promise<MemoryFind[]> {
  const score = ranking.scorer();
  let bestScore = 0;
  for (const match of ranking.matches) {
    bestScore = Math.max(bestScore, score(match));
    if (clock.isDue) await clock.tick();
  }
  const best = new BestMatches(size, bestScore);
  for (const match of ranking.matches) {
    best.add(match, score(match));
    if (clock.isDue) await clock.tick();
  }
  return best.matches.map(({ path, line, text, heading }) => ({ path, line, text, heading }));
}
