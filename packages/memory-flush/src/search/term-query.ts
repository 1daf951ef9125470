import { foldText, isUnspaced, pairsOf, wordsOf, wordsOfFolded } from "./words.js";

/** How often each term of a query is in a note. */
export interface TermCounts {
  /** The word itself. */
  readonly exact: readonly number[];
  /** A word that begins with the term, or with which the term begins. */
  readonly loose: readonly number[];
  /** All words of the note. */
  readonly length: number;
  /** Whether the words of the query follow each other in it. */
  readonly hasPhrase: boolean;
}

/** Which terms a word stands for. */
interface WordTerms {
  readonly exact: number | undefined;
  readonly loose: readonly number[];
}

/** More would not make a query clearer, and every one takes time. */
const MAX_TERMS = 32;
/** A word in a heading counts as much less than one in the note. */
const HEADING_WEIGHT = 0.5;
/** Shortest term that stands for the beginning of words. */
const MIN_PREFIX_CHARS = 2;
/** Shortest word that is taken for a term without its ending. */
const MIN_STEM_CHARS = 4;
/** How many words are remembered; the words of a language repeat. */
const MAX_KNOWN_WORDS = 50_000;

/** What to look for, and how often a note has it. */
export class TermQuery {
  readonly terms: readonly string[];
  readonly #phrase: string;
  readonly #index: ReadonlyMap<string, number>;
  /** Finds the beginning of a term: a text without any has nothing of the query, which is quick to see. */
  readonly #hint: RegExp;
  readonly #known = new Map<string, WordTerms>();

  constructor(query: string) {
    const words = wordsOf(query);
    const terms = words.flatMap((word) => (isUnspaced(word) ? pairsOf(word) : [word]));
    this.terms = [...new Set(terms)].slice(0, MAX_TERMS);
    this.#phrase = words.join(" ");
    this.#index = new Map(this.terms.map((term, index) => [term, index]));
    // Words have no character that means something in an expression.
    this.#hint = new RegExp(this.terms.map((term) => term.slice(0, MIN_STEM_CHARS)).join("|"));
  }

  /** Null when the note has nothing of it. */
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

  /** Returns how many words there were; in scripts without spaces, characters. */
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
