import type { Note } from "./note-reader.js";
import type { TermCounts } from "./term-query.js";

/** A note that has something of the query. */
export interface Match extends Note {
  readonly path: string;
  /** Which file it is in, in the order they were read. */
  readonly file: number;
  readonly counts: TermCounts;
}

// The usual values of BM25: how soon repeating a word stops to count, and how much the length of a note does.
const K1 = 1.2;
const B = 0.75;
const PHRASE_BONUS = 1.5;
const LOOSE_WEIGHT = 0.5;
/** Shortest term that is looked for as a beginning of words although other terms were found as they are. */
const MIN_LOOSE_CHARS = 4;
/** With so many matches all but the best are dropped: far more than are shown, and scores hardly change by then. */
const MAX_MATCHES = 4_096;
const KEPT_MATCHES = 1_024;

/** BM25 over notes that come one by one; scores are known when all have been added. */
export class Ranking {
  /** By text: what is there twice need not be kept twice. */
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

  /** Counts a note, whether or not it has something of the query. */
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

  /** What may be among the best, in the order it was added. */
  get matches(): Iterable<Match> {
    return this.#matches.values();
  }

  /** How well a note answers the query; 0 when it does not. A term that no note has is looked for in beginnings of words. */
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

/** Files come newest first, `MEMORY.md` before all; within a file later lines are newer. */
export function newerFirst(a: Match, b: Match): number {
  return a.file - b.file || b.line - a.line;
}

function addPresent(totals: number[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries())
    if (count > 0) totals[index] = (totals[index] ?? 0) + 1;
}
