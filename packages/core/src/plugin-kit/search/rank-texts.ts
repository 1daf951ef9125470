import type { YieldingClock } from "../yielding-clock.js";
import type { QueryTerm } from "./query-terms.js";
import type { TextGroup } from "./text-group.js";
import type { Vocabulary } from "./vocabulary.js";

// Parameters of BM25: saturation of the count of a word, and weight of the length of a text.
const K1 = 1.2;
const B = 0.3;
/** Part of the weight of two words that is added where they follow each other as in the query. */
const PHRASE_BONUS = 0.5;
/** Weight of the similarity, compared with all words of the query. */
const SIMILARITY_WEIGHT = 0.7;
/** A word in a larger part of the texts, such as the name of a speaker, says nothing about their neighbours. */
const MAX_SPREAD_PART = 0.25;
const MIN_SPREAD_TEXTS = 10;
/** Texts that are scored before other work may run. */
const SLICE = 256;

/** Texts to rank, and what they are ranked by. */
export interface RankRequest {
  readonly vocabulary: Vocabulary;
  readonly groups: readonly (readonly [key: string, group: TextGroup])[];
  readonly terms: readonly QueryTerm[];
  /** Texts and words of the whole index. */
  readonly totals: { readonly texts: number; readonly words: number };
  /** Shares that a text gets of the words one, two, three texts away. */
  readonly neighbours: readonly number[];
  /** Similarity of a text to the query, from 0 to 1. */
  readonly similarity?: ((group: string, position: number) => number) | undefined;
  readonly clock: YieldingClock;
}

/** A text with a score above 0. */
export interface ScoredText {
  readonly group: string;
  readonly position: number;
  readonly at: number;
  readonly score: number;
}

/** Scores texts by BM25; a text also gets a share of the words of its neighbours. */
export async function rankTexts(
  request: RankRequest,
  take: (text: ScoredText, tag: number) => void,
): Promise<void> {
  const { groups, clock } = request;
  const scorer = await Scorer.create(request);
  for (const [key, group] of groups) {
    scorer.begin(key, take);
    for (const { positions, times, tags, ends, words } of group.blocks) {
      let start = 0;
      for (let index = 0; index < ends.length; index++) {
        if (index % SLICE === 0) await clock.tick();
        const end = ends[index] as number;
        scorer.text(
          {
            position: positions[index] as number,
            at: times[index] as number,
            tag: tags[index] as number,
          },
          words.subarray(start, end),
        );
        start = end;
      }
    }
    scorer.end();
  }
}

/** Counts of the terms in a text. */
interface Row {
  position: number;
  at: number;
  tag: number;
  length: number;
  isEmpty: boolean;
  phrase: number;
  readonly counts: Float64Array;
}

/** Scores the texts of one group after the other, in a window that moves over them. */
class Scorer {
  readonly #terms: readonly QueryTerm[];
  readonly #weights: readonly number[];
  /** True for terms of which a text gets a share of its neighbours' words. */
  readonly #spreads: readonly boolean[];
  readonly #shares: readonly number[];
  readonly #meanLength: number;
  /** Term of each word of the vocabulary, from 1; 0 for none. */
  readonly #termOf: Uint8Array;
  readonly #wordWeights: Float32Array;
  /** The texts around the one that is scored; the window is filled at both ends with empty ones. */
  readonly #window: Row[];
  readonly #reach: number;
  #filled = 0;
  #group = "";
  readonly #similarity: RankRequest["similarity"];
  /** Score of a text that is entirely similar. */
  readonly #similarScore: number;
  #take: (text: ScoredText, tag: number) => void = () => {};

  private constructor(
    { vocabulary, terms, totals, neighbours, similarity }: RankRequest,
    dateTexts: readonly number[],
  ) {
    this.#terms = terms;
    this.#reach = neighbours.length;
    this.#shares = [...neighbours.toReversed(), 1, ...neighbours];
    this.#window = this.#shares.map(() => emptyRow(terms.length));
    const spread = this.#shares.reduce((sum, share) => sum + share, 0);
    this.#meanLength = Math.max(1, (spread * totals.words) / Math.max(1, totals.texts));
    this.#termOf = new Uint8Array(vocabulary.size);
    this.#wordWeights = new Float32Array(vocabulary.size);
    const rarity = (texts: number): number =>
      Math.log(1 + (totals.texts - texts + 0.5) / (texts + 0.5));
    const known = terms.map((term, index) =>
      // A sum over words counts a text with two of them twice.
      Math.min(totals.texts, dateTexts[index] || textsWith(vocabulary, term)),
    );
    this.#weights = known.map(rarity);
    this.#similarity = similarity;
    this.#similarScore = SIMILARITY_WEIGHT * this.#weights.reduce((sum, weight) => sum + weight, 0);
    // Texts of a session have about the same time: neighbours add nothing to a date.
    this.#spreads = terms.map(
      ({ date }, index) =>
        date === undefined &&
        (known[index] ?? 0) <= Math.max(MIN_SPREAD_TEXTS, MAX_SPREAD_PART * totals.texts),
    );
    for (const [index, { words }] of terms.entries())
      for (const [id, weight] of words) {
        this.#termOf[id] = index + 1;
        // A common word counts for no more than it would by itself.
        const own =
          weight === 1 ? 1 : rarity(vocabulary.textsWith(id)) / (this.#weights[index] || 1);
        this.#wordWeights[id] = weight * Math.min(1, own);
      }
  }

  static async create(request: RankRequest): Promise<Scorer> {
    const counts: number[] = [];
    for (const { date } of request.terms)
      counts.push(date === undefined ? 0 : await textsAt(request, date.fit));
    return new Scorer(request, counts);
  }

  begin(group: string, take: (text: ScoredText, tag: number) => void): void {
    this.#group = group;
    this.#take = take;
    this.#filled = 0;
    for (const row of this.#window) clear(row);
  }

  /** Moves the window to the next text, and scores the one that is then in the middle. */
  text({ position, at, tag }: Pick<Row, "position" | "at" | "tag">, words: Uint32Array): void {
    const row = this.#next();
    row.position = position;
    row.at = at;
    row.tag = tag;
    row.length = words.length;
    let before = 0;
    for (let index = 0; index < words.length; index++) {
      const id = words[index] as number;
      // Words may have been added since the query was read.
      const term = this.#termOf[id] ?? 0;
      if (term > 0) {
        row.counts[term - 1] = (row.counts[term - 1] as number) + (this.#wordWeights[id] as number);
        row.isEmpty = false;
        if (before === term - 1 && before > 0) row.phrase = Math.max(row.phrase, this.#pair(term));
      }
      before = term;
    }
    for (const [index, { date }] of this.#terms.entries()) {
      const fit = date?.fit(at) ?? 0;
      if (fit === 0) continue;
      row.counts[index] = fit;
      row.isEmpty = false;
    }
    this.#filled++;
    if (this.#filled > this.#reach) this.#score();
  }

  /** Scores the last texts of a group. */
  end(): void {
    for (let left = this.#reach; left > 0; left--) {
      this.#next();
      this.#filled++;
      if (this.#filled > this.#reach) this.#score();
    }
  }

  /** Weight of two terms that follow each other. */
  #pair(term: number): number {
    return Math.min(this.#weights[term - 2] as number, this.#weights[term - 1] as number);
  }

  #next(): Row {
    const row = this.#window.shift() as Row;
    clear(row);
    this.#window.push(row);
    return row;
  }

  #score(): void {
    const middle = this.#window[this.#reach] as Row;
    if (middle.position < 0) return;
    const { position, at } = middle;
    const similar = this.#similarity?.(this.#group, position) ?? 0;
    const score = this.#wordScore(middle) + similar * this.#similarScore;
    if (score > 0) this.#take({ group: this.#group, position, at, score }, middle.tag);
  }

  #wordScore(middle: Row): number {
    if (this.#window.every((row) => row.isEmpty)) return 0;
    let length = 0;
    for (const [index, row] of this.#window.entries())
      length += row.length * (this.#shares[index] as number);
    const lengthPart = K1 * (1 - B + (B * length) / this.#meanLength);
    let score = PHRASE_BONUS * middle.phrase;
    for (let term = 0; term < this.#weights.length; term++) {
      let count = 0;
      if (this.#spreads[term])
        for (let index = 0; index < this.#window.length; index++)
          count += (this.#window[index]?.counts[term] as number) * (this.#shares[index] as number);
      else count = middle.counts[term] as number;
      if (count > 0)
        score += ((this.#weights[term] as number) * count * (K1 + 1)) / (count + lengthPart);
    }
    return score;
  }
}

/** Counts the texts with a term: with the word itself, if there are any. */
function textsWith(vocabulary: Vocabulary, { words }: QueryTerm): number {
  let [same, others] = [0, 0];
  for (const [id, weight] of words)
    if (weight === 1) same += vocabulary.textsWith(id);
    else others += vocabulary.textsWith(id);
  return same || others;
}

/** Counts the texts of a time. */
async function textsAt(
  { groups, clock }: RankRequest,
  fit: (at: number) => number,
): Promise<number> {
  let texts = 0;
  for (const [, { blocks }] of groups)
    for (const { times } of blocks) {
      await clock.tick();
      for (const at of times) if (fit(at) > 0) texts++;
    }
  return texts;
}

function emptyRow(terms: number): Row {
  return clear({
    position: -1,
    at: 0,
    tag: 0,
    length: 0,
    isEmpty: true,
    phrase: 0,
    counts: new Float64Array(terms),
  });
}

function clear(row: Row): Row {
  row.position = -1;
  row.length = 0;
  row.phrase = 0;
  if (!row.isEmpty) row.counts.fill(0);
  row.isEmpty = true;
  return row;
}
