/** A text in the form in which it is searched. */
export interface IndexedText {
  /** Number that tells the text apart from others of its group; strictly increasing. */
  readonly position: number;
  /** Time in milliseconds since 1970. */
  readonly at: number;
  /** Number given by the owner of the index. */
  readonly tag: number;
  /** Numbers of its words, in order. */
  readonly words: Uint32Array;
}

/** Texts in a few arrays: an object for each would take several times the memory. */
export interface TextBlock {
  readonly positions: Float64Array;
  readonly times: Float64Array;
  readonly tags: Uint32Array;
  /** Index behind the last word of each text. */
  readonly ends: Uint32Array;
  readonly words: Uint32Array;
}

/** Texts of a block that is still extended; copying as many costs next to nothing. */
const SMALL_BLOCK_TEXTS = 256;
/** Bytes of a text besides its words. */
const TEXT_BYTES = 24;
/** Estimated bytes of a block besides its arrays. */
const BLOCK_BYTES = 512;

/** Texts that belong together in this order: the turns of a session, the notes of a file. */
export class TextGroup {
  #blocks: readonly TextBlock[] = [];
  #texts = 0;
  #words = 0;

  get blocks(): readonly TextBlock[] {
    return this.#blocks;
  }

  get texts(): number {
    return this.#texts;
  }

  get words(): number {
    return this.#words;
  }

  get bytes(): number {
    return this.#texts * TEXT_BYTES + this.#words * 4 + this.#blocks.length * BLOCK_BYTES;
  }

  /** Adds texts behind the others, or before them. Blocks that a search reads stay as they are. */
  add(texts: readonly IndexedText[], where: "behind" | "before"): void {
    if (texts.length === 0) return;
    const block = blockOf(texts);
    this.#texts += texts.length;
    this.#words += block.words.length;
    const last = this.#blocks.at(-1);
    if (where === "before") this.#blocks = [block, ...this.#blocks];
    else if (last !== undefined && last.ends.length + texts.length <= SMALL_BLOCK_TEXTS)
      this.#blocks = [...this.#blocks.slice(0, -1), joined(last, block)];
    else this.#blocks = [...this.#blocks, block];
  }
}

/** Yields the words of each text of a block. */
export function* textsOf({ words, ends }: TextBlock): Generator<Uint32Array, void, void> {
  let start = 0;
  for (const end of ends) {
    yield words.subarray(start, end);
    start = end;
  }
}

function blockOf(texts: readonly IndexedText[]): TextBlock {
  const words = new Uint32Array(texts.reduce((sum, text) => sum + text.words.length, 0));
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    words.set(text.words, end);
    end += text.words.length;
    ends[index] = end;
  }
  return {
    positions: Float64Array.from(texts, ({ position }) => position),
    times: Float64Array.from(texts, ({ at }) => at),
    tags: Uint32Array.from(texts, ({ tag }) => tag),
    ends,
    words,
  };
}

function joined(one: TextBlock, other: TextBlock): TextBlock {
  const shift = one.words.length;
  return {
    positions: Float64Array.of(...one.positions, ...other.positions),
    times: Float64Array.of(...one.times, ...other.times),
    tags: Uint32Array.of(...one.tags, ...other.tags),
    ends: Uint32Array.of(...one.ends, ...other.ends.map((end) => end + shift)),
    words: concatenated(one.words, other.words),
  };
}

function concatenated(one: Uint32Array, other: Uint32Array): Uint32Array {
  const all = new Uint32Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
