import type { Note } from "./note-reader.js";
import type { TermCounts } from "./term-query.js";

/** A note that matches the query. */
export interface Match extends Note {
  readonly path: string;
  /** Index of its file, in the order in which files were read. */
  readonly file: number;
  readonly counts: TermCounts;
}

// Usual parameters of BM25: saturation of term frequency, and weight of the length of a note.
const K1 = 1.2;
const B = 0.75;
const PHRASE_BONUS = 1.5;
const LOOSE_WEIGHT = 0.5;
/** Shortest term that is matched as a prefix although other terms have exact matches. */
const MIN_LOOSE_CHARS = 4;
/** Beyond this many matches only the best are kept: far more than are shown, and scores hardly change by then. */
const MAX_MATCHES = 4_096;
const KEPT_MATCHES = 1_024;

/** Ranks notes by BM25; scores are known when all notes have been added. */
export class Ranking {
  /** By text, so that duplicates are kept once. */
  readonly #matches = new Map<string, Match>();
  readonly #terms: readonly string[];
  readonly #exact: number[];
  readonly #loose: number[];
  #notes = 0;
  #matched = 0;
  #matchedLength = 0;

  constructor(terms: readonly string[]) {
    this.#terms = terms;
    this.#exact = terms.map(() => 0);
    this.#loose = terms.map(() => 0);
  }

  /** Counts a note, whether or not it matches the query. */
  add(match: Match | null): void {
    this.#notes++;
    if (match === null) return;
    this.#matched++;
    this.#matchedLength += match.counts.length;
    addPresent(this.#exact, match.counts.exact);
    addPresent(this.#loose, match.counts.loose);
    if (!this.#matches.has(match.text)) this.#matches.set(match.text, match);
    if (this.#matches.size > MAX_MATCHES) this.#keepBest();
  }

  /** Candidates for the best matches, in the order in which they were added. */
  get matches(): Iterable<Match> {
    return this.#matches.values();
  }

  /** Returns the scoring function; 0 means no match. A term without exact matches is matched as a prefix. */
  scorer(): (match: Match) => number {
    const isAnyExact = this.#exact.some((count) => count > 0);
    const meanLength = this.#matchedLength / Math.max(1, this.#matched) || 1;
    const weights = this.#terms.map((term, index) => {
      const exact = this.#exact[index] ?? 0;
      if (exact > 0) return { isExact: true, weight: this.#rarity(exact) };
      const isTooShort = isAnyExact && term.length < MIN_LOOSE_CHARS;
      const loose = isTooShort ? 0 : (this.#loose[index] ?? 0);
      return { isExact: false, weight: loose === 0 ? 0 : LOOSE_WEIGHT * this.#rarity(loose) };
    });
    return ({ counts }) => {
      const lengthPart = K1 * (1 - B + (B * counts.length) / meanLength);
      let score = 0;
      for (const [index, { isExact, weight }] of weights.entries()) {
        const count = (isExact ? counts.exact : counts.loose)[index] ?? 0;
        score += (weight * count * (K1 + 1)) / (count + lengthPart);
      }
      return counts.hasPhrase ? score * PHRASE_BONUS : score;
    };
  }

  #keepBest(): void {
    const score = this.scorer();
    const scored = [...this.matches].map((match) => ({ match, score: score(match) }));
    scored.sort((a, b) => b.score - a.score || newerFirst(a.match, b.match));
    for (const { match } of scored.slice(KEPT_MATCHES)) this.#matches.delete(match.text);
  }

  #rarity(notesWithTerm: number): number {
    return Math.log(1 + (this.#notes - notesWithTerm + 0.5) / (notesWithTerm + 0.5));
  }
}

/** Compares by age: files come newest first, after `MEMORY.md`; within a file later lines are newer. */
export function newerFirst(a: Match, b: Match): number {
  return a.file - b.file || b.line - a.line;
}

function addPresent(totals: number[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries())
    if (count > 0) totals[index] = (totals[index] ?? 0) + 1;
}
