import type { RankRequest, TakeText } from "./rank-texts.js";
import type { TermWeights } from "./term-weights.js";
import type { TextBlock } from "./text-group.js";

// Parameters of BM25: saturation of the count of a word, and weight of the length of a text.
const K1 = 1.2;
const B = 0.3;
/** Part of the weight of two words that is added where they follow each other as in the query. */
const PHRASE_BONUS = 0.5;
/** Part of the score of a text's own words that is added once more: the answer is more often in a hit than beside it. */
const OWN_SHARE = 0.2;
/** Weight of a word that an answer probably has, compared with a word of the query. */
const ANSWER_WEIGHT = 0.7;
/** Weight of the similarity, compared with all words of the query. */
const SIMILARITY_WEIGHT = 0.7;
/** Counts of the terms in a text. */
interface Row {
  position: number;
  at: number;
  tag: number;
  length: number;
  isEmpty: boolean;
  phrase: number;
  /** It has a word of a probable answer. */
  isAnswer: boolean;
  readonly counts: Float64Array;
}

/** Scores the texts of one group after the other, in a window that moves over them. */
export class TextScorer {
  readonly #request: RankRequest;
  readonly #weights: TermWeights;
  readonly #take: TakeText;
  /** Shares of the texts in the window, the middle one being scored. */
  readonly #shares: readonly number[];
  readonly #reach: number;
  /** Sum of the shares, and mean length of a text with those of its neighbours. */
  readonly #spread: number;
  readonly #meanLength: number;
  readonly #dates: readonly (readonly [term: number, fit: (at: number) => number])[];
  /** Score of a text that is entirely similar. */
  readonly #similarScore: number;
  /** The window, a ring of rows; beyond the ends of a group they are empty. */
  readonly #rows: readonly Row[];
  #newest = 0;
  #filledRows = 0;
  #group = "";

  constructor(request: RankRequest, weights: TermWeights, take: TakeText) {
    const { terms, totals, neighbours } = request;
    this.#request = request;
    this.#weights = weights;
    this.#take = take;
    this.#reach = neighbours.length;
    this.#shares = [...neighbours.toReversed(), 1, ...neighbours];
    this.#spread = sum(this.#shares);
    this.#meanLength = Math.max(1, (this.#spread * totals.words) / Math.max(1, totals.texts));
    this.#dates = terms.flatMap(({ date }, term) => (date ? [[term, date.fit] as const] : []));
    this.#similarScore = SIMILARITY_WEIGHT * sum(weights.weights);
    this.#rows = this.#shares.map(() => emptyRow(terms.length));
  }

  begin(group: string): void {
    this.#group = group;
    for (const row of this.#rows) this.#clear(row);
  }

  /** Moves the window over texts of a block, and scores each that comes into its middle. */
  texts({ positions, times, tags, ends, words }: TextBlock, from: number, to: number): void {
    let start = from === 0 ? 0 : (ends[from - 1] as number);
    for (let index = from; index < to; index++) {
      const end = ends[index] as number;
      const row = this.#next();
      row.position = positions[index] as number;
      row.at = times[index] as number;
      row.tag = tags[index] as number;
      row.length = end - start;
      this.#count(row, words, start, end);
      this.#score();
      start = end;
    }
  }

  /** Scores the last texts of a group. */
  end(): void {
    for (let left = this.#reach; left > 0; left--) {
      this.#next();
      this.#score();
    }
  }

  #count(row: Row, words: Uint32Array, start: number, end: number): void {
    const { termOf, wordWeights, weights, answerTerm } = this.#weights;
    const { counts } = row;
    let before = 0;
    for (let index = start; index < end; index++) {
      const id = words[index] as number;
      // Words may have been added since the query was read.
      const term = termOf[id] ?? 0;
      // Such a word alone makes no match.
      if (term > 0 && term === answerTerm) row.isAnswer = true;
      else if (term > 0) {
        counts[term - 1] = (counts[term - 1] as number) + (wordWeights[id] as number);
        row.isEmpty = false;
        if (before > 0 && before === term - 1) {
          const pair = Math.min(weights[term - 2] as number, weights[term - 1] as number);
          row.phrase = Math.max(row.phrase, pair);
        }
      }
      before = term;
    }
    for (const [term, fit] of this.#dates) {
      counts[term] = fit(row.at);
      if (counts[term] > 0) row.isEmpty = false;
    }
    if (!row.isEmpty) this.#filledRows++;
  }

  #next(): Row {
    this.#newest = (this.#newest + 1) % this.#rows.length;
    const row = this.#rows[this.#newest] as Row;
    this.#clear(row);
    return row;
  }

  #clear(row: Row): void {
    if (!row.isEmpty) {
      row.counts.fill(0);
      this.#filledRows--;
    }
    row.isEmpty = true;
    row.position = -1;
    row.length = 0;
    row.phrase = 0;
    row.isAnswer = false;
  }

  /** Row of the window, from the oldest. */
  #row(index: number): Row {
    return this.#rows[(this.#newest + 1 + index) % this.#rows.length] as Row;
  }

  #score(): void {
    const { similarity } = this.#request;
    if (this.#filledRows === 0 && similarity === undefined) return;
    const { position, at, tag, phrase } = this.#row(this.#reach);
    if (position < 0) return;
    const similar = similarity?.(this.#group, position) ?? 0;
    const words = this.#filledRows === 0 ? 0 : PHRASE_BONUS * phrase + this.#wordScore();
    const score = words + similar * this.#similarScore;
    if (score > 0) this.#take({ group: this.#group, position, at, score }, tag);
  }

  #wordScore(): number {
    const { weights, spreads, answerTerm } = this.#weights;
    let length = 0;
    for (let index = 0; index < this.#rows.length; index++)
      length += this.#row(index).length * (this.#shares[index] as number);
    const middle = this.#row(this.#reach);
    const lengthPart = lengthPartOf(length / this.#meanLength);
    const ownPart = lengthPartOf((middle.length * this.#spread) / this.#meanLength);
    let score = middle.isAnswer ? ANSWER_WEIGHT * (weights[answerTerm - 1] ?? 0) : 0;
    for (let term = 0; term < weights.length; term++) {
      const own = middle.counts[term] as number;
      let count = own;
      if (spreads[term])
        for (let index = 0; index < this.#rows.length; index++)
          if (index !== this.#reach)
            count += (this.#row(index).counts[term] as number) * (this.#shares[index] as number);
      if (count === 0) continue;
      const parts = count / (count + lengthPart) + (OWN_SHARE * own) / (own + ownPart);
      score += (weights[term] as number) * (K1 + 1) * parts;
    }
    return score;
  }
}

/** Returns the part of BM25's divisor that is due to the length of a text, relative to the mean. */
function lengthPartOf(length: number): number {
  return K1 * (1 - B + B * length);
}

function emptyRow(terms: number): Row {
  const counts = new Float64Array(terms);
  return {
    position: -1,
    at: 0,
    tag: 0,
    length: 0,
    isEmpty: true,
    phrase: 0,
    isAnswer: false,
    counts,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
