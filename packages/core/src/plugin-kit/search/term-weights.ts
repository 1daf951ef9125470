import type { QueryTerm } from "./query-terms.js";
import type { Vocabulary } from "./vocabulary.js";

/** A word in a larger part of the texts, such as the name of a speaker, says nothing about their neighbours. */
const MAX_SPREAD_PART = 0.25;
const MIN_SPREAD_TEXTS = 10;

/** Weights of the terms of a query in an index. */
export interface TermWeights {
  /** Inverse document frequency of each term. */
  readonly weights: readonly number[];
  /** True for terms of which a text gets a share of its neighbours' words. */
  readonly spreads: readonly boolean[];
  /** Term of each word of the vocabulary, from 1; 0 for none. */
  readonly termOf: Uint8Array;
  /** Term of the words of a probable answer, from 1; 0 for none. */
  readonly answerTerm: number;
  /** Weight of each word within its term. */
  readonly wordWeights: Float32Array;
}

/**
 * Weighs the terms of a query by how rare they are.
 *
 * @param dateTexts - number of texts of the time that a term names, for terms that name one
 */
export function termWeights(
  vocabulary: Vocabulary,
  terms: readonly QueryTerm[],
  dateTexts: readonly number[],
  texts: number,
): TermWeights {
  const rarity = (count: number): number => Math.log(1 + (texts - count + 0.5) / (count + 0.5));
  const counts = terms.map((term, index) =>
    // A sum over words counts a text with two of them twice.
    Math.min(
      texts,
      term.date === undefined ? textsWith(vocabulary, term) : (dateTexts[index] ?? 0),
    ),
  );
  const weights = counts.map(rarity);
  const termOf = new Uint8Array(vocabulary.size);
  const wordWeights = new Float32Array(vocabulary.size);
  for (const [index, { words, isAnswer }] of terms.entries())
    for (const [id, weight] of words) {
      if (isAnswer && termOf[id] !== 0) continue;
      termOf[id] = index + 1;
      // A common word counts for no more than it would by itself.
      const own = weight === 1 ? 1 : rarity(vocabulary.textsWith(id)) / (weights[index] || 1);
      wordWeights[id] = weight * Math.min(1, own);
    }
  const mostSpread = Math.max(MIN_SPREAD_TEXTS, MAX_SPREAD_PART * texts);
  // Texts of a session have about the same time: neighbours add nothing to a date.
  const spreads = terms.map(
    ({ date }, index) => date === undefined && (counts[index] ?? 0) <= mostSpread,
  );
  const answerTerm = 1 + terms.findIndex(({ isAnswer }) => isAnswer === true);
  return { weights, spreads, termOf, answerTerm, wordWeights };
}

/** Counts the texts with a term: with the word itself, if there are any. */
function textsWith(vocabulary: Vocabulary, { words }: QueryTerm): number {
  let [same, others] = [0, 0];
  for (const [id, weight] of words)
    if (weight === 1) same += vocabulary.textsWith(id);
    else others += vocabulary.textsWith(id);
  return same || others;
}
