import type { YieldingClock } from "../yielding-clock.js";
import type { QueryTerm } from "./query-terms.js";
import { termWeights } from "./term-weights.js";
import type { TextGroup } from "./text-group.js";
import { TextScorer } from "./text-scorer.js";
import type { Vocabulary } from "./vocabulary.js";

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

/** Takes the texts that were scored, each with its tag. */
export type TakeText = (text: ScoredText, tag: number) => void;

/** Scores texts by BM25; a text also gets a share of the words of its neighbours. */
export async function rankTexts(request: RankRequest, take: TakeText): Promise<void> {
  const { groups, clock, terms, vocabulary, totals } = request;
  const dateTexts: number[] = [];
  for (const { date } of terms)
    dateTexts.push(date === undefined ? 0 : await textsAt(request, date.fit));
  const weights = termWeights(vocabulary, terms, dateTexts, totals.texts);
  const scorer = new TextScorer(request, weights, take);
  for (const [key, group] of groups) {
    scorer.begin(key);
    for (const block of group.blocks)
      for (let from = 0; from < block.ends.length; from += SLICE) {
        await clock.tick();
        scorer.texts(block, from, Math.min(block.ends.length, from + SLICE));
      }
    scorer.end();
  }
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
