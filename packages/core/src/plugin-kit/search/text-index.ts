import type { YieldingClock } from "../yielding-clock.js";
import { type QueryTerm, queryTerms } from "./query-terms.js";
import { rankTexts } from "./rank-texts.js";
import { TextGroup, textsOf } from "./text-group.js";
import { Vocabulary } from "./vocabulary.js";

/** A text for an index. */
export interface TextEntry {
  /** Number that tells the text apart from others of its group; increasing, and not negative. */
  readonly position: number;
  /** Time in milliseconds since 1970; queries may name it. */
  readonly at: number;
  /** Number from 0 to 2³² − 1 by which {@link TextSearch.isLeftOut} may know it. @default 0 */
  readonly tag?: number | undefined;
  /** Its words, from {@link searchWords}; a word that counts for more may be there twice. */
  readonly words: readonly string[];
}

/** A search of an index. */
export interface TextSearch {
  readonly query: string;
  /** Most hits that are returned. */
  readonly limit: number;
  readonly clock: YieldingClock;
  /** Time that `last May` is relative to, in milliseconds since 1970. @default now */
  readonly now?: number | undefined;
  /** Searches only this group. */
  readonly group?: string | undefined;
  /** Shares that a text gets of the words of texts one, two … away in its group. @default none */
  readonly neighbours?: readonly number[] | undefined;
  /** Tells which texts are not wanted; their words still count for their neighbours. */
  isLeftOut?(group: string, tag: number): boolean;
  /** Returns how similar a text is to the query by other means, such as vectors, from 0 to 1; it is added to the score. */
  similarity?(group: string, position: number): number;
}

/** A text that was found. */
export interface TextHit {
  readonly group: string;
  readonly position: number;
  readonly at: number;
  readonly score: number;
}

/** A word of a query, and what is known of it. */
export interface SearchedWord {
  readonly text: string;
  /** Number of texts that have it, in some form. */
  readonly texts: number;
  /** Known words that were taken for one that no text has; at first the most frequent. */
  readonly taken: readonly string[];
}

/** Result of a search. */
export interface TextHits {
  /** Best first; of equal ones the newest. */
  readonly hits: readonly TextHit[];
  /** Number of texts with any of the words, near them or not, without those left out. */
  readonly matches: number;
  /** Number of matches that were left out. */
  readonly leftOut: number;
  readonly words: readonly SearchedWord[];
  /** Tells whether a word, as {@link searchWords} returns it, is one that was looked for. */
  isMatch(word: string): boolean;
}

/** Of the hits so far, at most as many times the limit are kept. */
const KEPT_FACTOR = 4;

/**
 * Index of texts in memory, searched by relevance: BM25 with stems, in which a text also gets a share of its neighbours'
 * words. Unknown words stand for those that begin like them or are spelled alike, and times such as `in March` for texts of
 * that time.
 *
 * @example
 * const index = new TextIndex();
 * index.add("monday", [{ position: 1, at: Date.now(), words: searchWords("I like green tea.") }]);
 * const { hits } = await index.search({ query: "Which tea?", limit: 10, clock: new YieldingClock() });
 */
export class TextIndex {
  readonly #vocabulary = new Vocabulary();
  readonly #groups = new Map<string, TextGroup>();
  #texts = 0;
  #words = 0;
  #groupBytes = 0;

  /** Estimated size in memory. */
  get bytes(): number {
    return this.#vocabulary.bytes + this.#groupBytes;
  }

  /** Number of texts. */
  get texts(): number {
    return this.#texts;
  }

  /** Returns the number of texts of a group, and the time of the first one. */
  describe(key: string): { readonly texts: number; readonly since: number | undefined } {
    const group = this.#groups.get(key);
    return { texts: group?.texts ?? 0, since: group?.blocks[0]?.times[0] };
  }

  /** Adds texts behind those of a group, or before them. */
  add(key: string, entries: readonly TextEntry[], where: "behind" | "before" = "behind"): void {
    const group = this.#groups.get(key) ?? new TextGroup();
    this.#groups.set(key, group);
    const texts = entries.map(({ position, at, tag = 0, words }) => {
      const ids = Uint32Array.from(words, (word) => this.#vocabulary.add(word));
      this.#vocabulary.count(ids, 1);
      return { position, at, tag, words: ids };
    });
    this.#count(group, -1);
    group.add(texts, where);
    this.#count(group, 1);
  }

  /** Removes a group; its words are no longer known unless other groups have them. */
  remove(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    this.#groups.delete(key);
    this.#count(group, -1);
    for (const block of group.blocks)
      for (const words of textsOf(block)) this.#vocabulary.count(words, -1);
  }

  /** Finds the texts that fit a query best. */
  async search(search: TextSearch): Promise<TextHits> {
    const { query, limit, clock, now = Date.now(), group: only, neighbours = [] } = search;
    const terms = await queryTerms(this.#vocabulary, query, { now, clock });
    const groups = [...this.#groups].filter(([key]) => only === undefined || key === only);
    const totals = { texts: this.#texts, words: this.#words };
    let hits: TextHit[] = [];
    let [matches, leftOut] = [0, 0];
    const take = (hit: TextHit, tag: number): void => {
      if (search.isLeftOut?.(hit.group, tag)) {
        leftOut++;
        return;
      }
      matches++;
      hits.push(hit);
      if (hits.length > KEPT_FACTOR * limit) hits = best(hits, limit);
    };
    const vocabulary = this.#vocabulary;
    await rankTexts(
      { vocabulary, groups, terms, totals, neighbours, clock, similarity: search.similarity },
      take,
    );
    const asked = terms.filter(({ isAnswer }) => isAnswer !== true);
    const known = new Set(
      asked.flatMap(({ words }) => [...words.keys()].map((id) => this.#vocabulary.wordOf(id))),
    );
    return {
      hits: best(hits, limit),
      matches,
      leftOut,
      words: asked.filter(({ date }) => date === undefined).map((term) => this.#wordOf(term)),
      isMatch: (word) => known.has(word),
    };
  }

  #wordOf({ text, words, match }: QueryTerm): SearchedWord {
    const ids = [...words.keys()];
    const texts = ids.reduce((sum, id) => sum + this.#vocabulary.textsWith(id), 0);
    const taken = match === "nearest" ? ids.map((id) => this.#vocabulary.wordOf(id)) : [];
    return { text, texts: Math.min(texts, this.#texts), taken };
  }

  #count(group: TextGroup, sign: 1 | -1): void {
    this.#texts += sign * group.texts;
    this.#words += sign * group.words;
    this.#groupBytes += sign * group.bytes;
  }
}

function best(hits: readonly TextHit[], limit: number): TextHit[] {
  return hits.toSorted(byScore).slice(0, limit);
}

function byScore(one: TextHit, other: TextHit): number {
  return other.score - one.score || other.at - one.at || other.position - one.position;
}
