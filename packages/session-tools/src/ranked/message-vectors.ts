/**
 * Turns texts into vectors, one for each, all of the same length; similar texts have similar directions. `embedMany` of the
 * AI SDK with any model fits: `async (texts) => (await embedMany({ model, values: [...texts] })).embeddings`.
 */
export type Embed = (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>;

/** Most characters of a text that are embedded; models cut longer ones anyway. */
const MAX_CHARS = 2_000;
/** Estimated bytes of a vector besides its numbers. */
const VECTOR_BYTES = 120;
const SCALE = 127;

/** Vectors of messages, each number in a byte: a tenth of the memory, and the order of hits stays the same. */
export class MessageVectors {
  readonly #embed: Embed;
  readonly #sessions = new Map<string, Map<number, Int8Array>>();
  #bytes = 0;

  constructor(embed: Embed) {
    this.#embed = embed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Embeds messages of a session. Without vectors, because the model fails, they are found by their words. */
  async add(sessionId: string, texts: ReadonlyMap<number, string>): Promise<void> {
    const said = [...texts].filter(([, text]) => text.trim() !== "");
    const vectors = await this.#vectorsOf(said.map(([, text]) => text));
    const known = this.#sessions.get(sessionId) ?? new Map<number, Int8Array>();
    this.#sessions.set(sessionId, known);
    for (const [index, [seq]] of said.entries()) {
      const vector = vectors[index];
      if (vector === undefined) continue;
      known.set(seq, vector);
      this.#bytes += vector.length + VECTOR_BYTES;
    }
  }

  remove(sessionId: string): void {
    for (const vector of this.#sessions.get(sessionId)?.values() ?? [])
      this.#bytes -= vector.length + VECTOR_BYTES;
    this.#sessions.delete(sessionId);
  }

  /** Returns a function that tells how similar messages are to a text, from 0 to 1; undefined when the model fails. */
  async similarTo(text: string): Promise<((sessionId: string, seq: number) => number) | undefined> {
    const [wanted] = await this.#vectorsOf([text]);
    if (wanted === undefined) return undefined;
    return (sessionId, seq) => {
      const vector = this.#sessions.get(sessionId)?.get(seq);
      return vector === undefined ? 0 : Math.max(0, product(wanted, vector));
    };
  }

  async #vectorsOf(texts: readonly string[]): Promise<readonly (Int8Array | undefined)[]> {
    if (texts.length === 0) return [];
    try {
      const vectors = await this.#embed(texts.map((text) => text.slice(0, MAX_CHARS)));
      return texts.map((_, index) => inBytes(vectors[index]));
    } catch {
      // A search by words alone is better than none.
      return [];
    }
  }
}

/** Scales a vector to length 1 and its numbers to bytes; undefined for one without a direction. */
function inBytes(vector: ArrayLike<number> | undefined): Int8Array | undefined {
  if (vector === undefined) return undefined;
  const numbers = Float64Array.from(vector);
  const length = Math.hypot(...numbers);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) return undefined;
  return Int8Array.from(numbers, (number) => Math.round((SCALE * number) / length));
}

function product(one: Int8Array, other: Int8Array): number {
  if (one.length !== other.length) return 0;
  let sum = 0;
  for (let index = 0; index < one.length; index++)
    sum += (one[index] as number) * (other[index] as number);
  return Math.min(1, sum / (SCALE * SCALE));
}
