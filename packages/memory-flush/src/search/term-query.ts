import { foldText, isUnspaced, pairsOf, wordsOf, wordsOfFolded } from "./words.js";

/** Number of matches of each term of a query in a note. */
export interface TermCounts {
  /** Matches of the word itself. */
  readonly exact: readonly number[];
  /** Matches of words that begin with the term, or with which the term begins. */
  readonly loose: readonly number[];
  /** Number of words of the note. */
  readonly length: number;
  /** True when the words of the query follow each other in the note. */
  readonly hasPhrase: boolean;
}

/** Terms that a word matches. */
interface WordTerms {
  readonly exact: number | undefined;
  readonly loose: readonly number[];
}

/** Most terms of a query; each takes time, and more would not improve the results. */
const MAX_TERMS = 32;
/** Weight of a word in the heading, compared with one in the note. */
const HEADING_WEIGHT = 0.5;
/** Shortest term that is matched as a prefix. */
const MIN_PREFIX_CHARS = 2;
/** Shortest word that counts as the stem of a term. */
const MIN_STEM_CHARS = 4;
/** Most words whose terms are cached; the words of a language repeat. */
const MAX_KNOWN_WORDS = 50_000;

/** A query, and how often a note matches it. */
export class TermQuery {
  readonly terms: readonly string[];
  readonly #phrase: string;
  readonly #index: ReadonlyMap<string, number>;
  /** Matches the beginning of any term, to reject quickly a text without matches. */
  readonly #hint: RegExp;
  readonly #known = new Map<string, WordTerms>();

  constructor(query: string) {
    const words = wordsOf(query);
    const terms = words.flatMap((word) => (isUnspaced(word) ? pairsOf(word) : [word]));
    this.terms = [...new Set(terms)].slice(0, MAX_TERMS);
    this.#phrase = words.join(" ");
    this.#index = new Map(this.terms.map((term, index) => [term, index]));
    // Words have no characters that are special in a regular expression.
    this.#hint = new RegExp(this.terms.map((term) => term.slice(0, MIN_STEM_CHARS)).join("|"));
  }

  /** Counts the matches in a note; null when there are none. */
  count(text: string, heading: string): TermCounts | null {
    const folded = foldText(text);
    const foldedHeading = foldText(heading);
    if (!this.#hint.test(folded) && !this.#hint.test(foldedHeading)) return null;
    const words = wordsOfFolded(folded);
    const exact = this.terms.map(() => 0);
    const loose = this.terms.map(() => 0);
    const length = this.#add(words, 1, exact, loose);
    this.#add(wordsOfFolded(foldedHeading), HEADING_WEIGHT, exact, loose);
    if (!exact.some(isFound) && !loose.some(isFound)) return null;
    const hasPhrase = this.terms.length > 1 && words.join(" ").includes(this.#phrase);
    return { exact, loose, length, hasPhrase };
  }

  /** Adds the matches, and returns the number of words; in scripts without spaces, of characters. */
  #add(words: readonly string[], weight: number, exact: number[], loose: number[]): number {
    let length = 0;
    const add = (counts: number[], term: number | undefined): void => {
      if (term !== undefined) counts[term] = (counts[term] ?? 0) + weight;
    };
    for (const word of words) {
      if (!isUnspaced(word)) {
        length++;
        const found = this.#termsOf(word);
        add(exact, found.exact);
        for (const term of found.loose) add(loose, term);
        continue;
      }
      let before = "";
      for (const character of word) {
        length++;
        add(exact, this.#index.get(character));
        if (before !== "") add(exact, this.#index.get(before + character));
        before = character;
      }
    }
    return length;
  }

  #termsOf(word: string): WordTerms {
    let found = this.#known.get(word);
    if (found === undefined) {
      if (this.#known.size >= MAX_KNOWN_WORDS) this.#known.clear();
      const loose = this.terms.flatMap((term, index) => (isLoosely(term, word) ? [index] : []));
      found = { exact: this.#index.get(word), loose };
      this.#known.set(word, found);
    }
    return found;
  }
}

function isLoosely(term: string, word: string): boolean {
  if (term.length < word.length) return term.length >= MIN_PREFIX_CHARS && word.startsWith(term);
  return word.length >= MIN_STEM_CHARS && term !== word && term.startsWith(word);
}

function isFound(count: number): boolean {
  return count > 0;
}
