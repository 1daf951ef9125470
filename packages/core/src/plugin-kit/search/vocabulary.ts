/** Estimated bytes of a word besides its characters: entries of the map, the list and the counts. */
const WORD_BYTES = 96;

/** Numbers the words of an index, and counts the texts that have them. */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #words: string[] = [];
  readonly #textCounts: number[] = [];
  #chars = 0;

  /** Number of words that were ever added. */
  get size(): number {
    return this.#words.length;
  }

  get bytes(): number {
    return this.size * WORD_BYTES + 2 * this.#chars;
  }

  /** Returns the number of a word, a new one for a new word. */
  add(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.#words.length;
    this.#ids.set(word, id);
    this.#words.push(word);
    this.#textCounts.push(0);
    this.#chars += word.length;
    return id;
  }

  /** Returns the number of a word that some text has; undefined for others. */
  idOf(word: string): number | undefined {
    const id = this.#ids.get(word);
    return id === undefined || this.textsWith(id) === 0 ? undefined : id;
  }

  wordOf(id: number): string {
    return this.#words[id] ?? "";
  }

  /** Returns the number of texts that have a word. */
  textsWith(id: number): number {
    return this.#textCounts[id] ?? 0;
  }

  /** Counts the words of a text that is added (1) or removed (-1); each word counts once. */
  count(words: Uint32Array, change: 1 | -1): void {
    for (const id of new Set(words)) this.#textCounts[id] = this.textsWith(id) + change;
  }
}
