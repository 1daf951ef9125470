import type { YieldingClock } from "../yielding-clock.js";
import { answerWords } from "./answer-words.js";
import { functionWords, type Language, languageOf } from "./languages.js";
import { nearestWords } from "./nearest-words.js";
import { type QueryDate, queryDates } from "./query-dates.js";
import type { Vocabulary } from "./vocabulary.js";
import { charactersOf, isUnspaced, pairsOf, placedWords, wordsOf } from "./words.js";

/** A word of a query, or a time that it names. */
export interface QueryTerm {
  readonly text: string;
  /** Numbers of the words that count for it, each with its weight. */
  readonly words: Map<number, number>;
  /** Kind of match: with the same stem, by their meaning or their beginning, or as the nearest known ones. */
  match: "same" | "related" | "beginning" | "nearest" | "none";
  readonly date?: QueryDate | undefined;
  /** Not part of the query: its words are those of a probable answer, such as times for `when`. */
  readonly isAnswer?: boolean | undefined;
}

const MAX_WORD_CHARS = 64;
/** Most terms of a query; each takes time, and more would not improve the results. */
const MAX_TERMS = 32;
/** Letters that words with the same stem begin with. */
const STEM_PREFIX_CHARS = 2;
/** Weights of words that are not the same. */
const RELATED_WEIGHT = 0.3;
const DERIVED_WEIGHT = 0.5;
const BEGINNING_WEIGHT = 0.5;
const NEAREST_WEIGHT = 0.7;
/** Shortest word that is matched as a beginning: where other words are known, and where none is. */
const MIN_BEGINNING_CHARS = { others: 4, none: 2 };
/** Shortest word that counts as the beginning of a word of the query. */
const MIN_SHORTER_CHARS = 4;
/** Words that are compared before other work may run. */
const SLICE = 2_048;

/**
 * Splits text into the words that are searched; in scripts without spaces, into pairs of characters.
 *
 * @param which - `content` leaves out English function words, which take up half of a text; `all` keeps them, so that a search
 *   for nothing else finds them
 */
export function searchWords(text: string, which: "content" | "all" = "content"): string[] {
  const words: string[] = [];
  for (const word of wordsOf(text))
    if (isUnspaced(word)) words.push(...pairsOf(word));
    else if (which === "all" || !functionWords.has(word)) words.push(shortened(word));
  return words;
}

/** Cuts what is too long for a word, such as encoded data. */
function shortened(word: string): string {
  return word.length <= MAX_WORD_CHARS ? word : word.slice(0, MAX_WORD_CHARS);
}

/** Finds what the words of a query stand for among the known words. */
export async function queryTerms(
  vocabulary: Vocabulary,
  query: string,
  { now, clock }: { readonly now: number; readonly clock: YieldingClock },
): Promise<readonly QueryTerm[]> {
  const language = languageOf(wordsOf(query));
  const terms = new Map<string, QueryTerm>();
  for (const word of contentWords(query, language)) {
    const key = language.stem(word);
    if (!terms.has(key)) terms.set(key, { text: word, words: new Map(), match: "none" });
    if (terms.size === MAX_TERMS) break;
  }
  await addSameStems(vocabulary, terms, language, clock);
  const isAnyKnown = [...terms.values()].some(({ match }) => match === "same");
  const unknown = [...terms.values()].filter(({ match }) => match === "none");
  await addBeginnings(vocabulary, unknown, isAnyKnown, clock);
  for (const term of unknown) {
    if (term.match !== "none") continue;
    for (const id of await nearestWords(vocabulary, term.text, clock)) {
      term.words.set(id, NEAREST_WEIGHT);
      term.match = "nearest";
    }
  }
  const dates = queryDates(query, now).map(
    (date): QueryTerm => ({ text: date.text, words: new Map(), match: "same", date }),
  );
  const answer: QueryTerm[] = [];
  const isAnswer = answerWords(query);
  if (isAnswer !== undefined) {
    const words = new Map((await vocabularyIds(vocabulary, isAnswer, clock)).map((id) => [id, 1]));
    answer.push({ text: "", words, match: "same", isAnswer: true });
  }
  return [...terms.values(), ...dates, ...answer];
}

/** Returns the words of a query without function words; all of them when there are no others. */
function contentWords(query: string, { stopWords }: Language): readonly string[] {
  const all: string[] = [];
  const content: string[] = [];
  for (const { word, start } of placedWords(query)) {
    const parts = isUnspaced(word) ? pairsOf(word) : [shortened(word)];
    all.push(...parts);
    // "Will" within a sentence is a name.
    const isName = start > 0 && /\p{Lu}/u.test(query.charAt(start)) && !functionWords.has(word);
    if (isName || !stopWords.has(word)) content.push(...parts);
  }
  return content.length > 0 ? content : all;
}

/** Returns the numbers of the known words that pass a test. */
async function vocabularyIds(
  vocabulary: Vocabulary,
  isWanted: (word: string) => boolean,
  clock: YieldingClock,
): Promise<number[]> {
  const ids: number[] = [];
  for (let id = 0; id < vocabulary.size; id++) {
    if (id % SLICE === 0) await clock.tick();
    if (isWanted(vocabulary.wordOf(id))) ids.push(id);
  }
  return ids;
}

/** Adds the words with the stem of a term, of words derived from the same word, and of words related to it. */
async function addSameStems(
  vocabulary: Vocabulary,
  terms: ReadonlyMap<string, QueryTerm>,
  language: Language,
  clock: YieldingClock,
): Promise<void> {
  const related = new Map<string, { readonly term: QueryTerm; readonly weight: number }>();
  for (const [stem, term] of terms) {
    for (const word of language.related?.(term.text) ?? [])
      related.set(language.stem(word), { term, weight: RELATED_WEIGHT });
    for (const derived of language.derived?.(stem) ?? [])
      related.set(derived, { term, weight: DERIVED_WEIGHT });
  }
  const add = (stem: string, word: string): void => {
    const id = vocabulary.idOf(word);
    const same = terms.get(stem);
    const { term, weight } = same ? { term: same, weight: 1 } : (related.get(stem) ?? {});
    if (id === undefined || term === undefined) return;
    term.words.set(id, weight ?? 1);
    if (same || term.match === "none") term.match = same ? "same" : "related";
  };
  const prefixes = new Set<string>();
  for (const [stem, { text }] of terms) add(stem, text);
  for (const stem of [...terms.keys(), ...related.keys()]) {
    for (const form of language.irregular?.(stem) ?? []) add(stem, form);
    if (!isUnspaced(stem)) prefixes.add(stem.slice(0, STEM_PREFIX_CHARS));
  }
  for (let id = 0; id < vocabulary.size; id++) {
    if (id % SLICE === 0) await clock.tick();
    const word = vocabulary.wordOf(id);
    if (prefixes.has(word.slice(0, STEM_PREFIX_CHARS))) add(language.stem(word), word);
  }
}

async function addBeginnings(
  vocabulary: Vocabulary,
  terms: readonly QueryTerm[],
  isAnyKnown: boolean,
  clock: YieldingClock,
): Promise<void> {
  const least = isAnyKnown ? MIN_BEGINNING_CHARS.others : MIN_BEGINNING_CHARS.none;
  const fits = (text: string, word: string): boolean => {
    // A character is a word of its own in scripts without spaces.
    if (isUnspaced(text)) return charactersOf(text).length === 1 && word.includes(text);
    if (text.length < word.length) return text.length >= least && word.startsWith(text);
    return word.length >= MIN_SHORTER_CHARS && text.startsWith(word);
  };
  if (terms.length === 0) return;
  for (let id = 0; id < vocabulary.size; id++) {
    if (id % SLICE === 0) await clock.tick();
    const word = vocabulary.wordOf(id);
    for (const term of terms) {
      if (!fits(term.text, word) || vocabulary.textsWith(id) === 0) continue;
      term.words.set(id, BEGINNING_WEIGHT);
      term.match = "beginning";
    }
  }
}
