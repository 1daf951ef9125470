import { literalPattern } from "@holdfast/core/store-kit";

/** Characters of a text that are matched: the parsed record is matched against all of it anyway. */
const MAX_CHARACTERS = 48;
/** Upper bound for the bytes of a match: in UTF-8 a character has at most four. */
export const MAX_MATCH_BYTES: number = 4 * MAX_CHARACTERS;

/** A byte position of a pattern: the bytes that may stand there. */
type ByteSet = ReadonlySet<number>;

/**
 * Finds literal text in UTF-8 bytes, in any case, with Horspool's algorithm.
 *
 * It finds every text that `literalPattern` finds, and may find bytes that only resemble it.
 */
export class BytePattern {
  readonly #length: number;
  /** For every position and every byte, 1 when the byte may stand there. */
  readonly #allowed: Uint8Array;
  /** Distance to move on, by the byte at the last position. */
  readonly #shifts: Uint8Array;

  /** @param text - an empty one is found everywhere */
  constructor(text: string) {
    const positions = longestRun([...text].slice(0, MAX_CHARACTERS).map(byteSets));
    const last = positions.length - 1;
    this.#length = positions.length;
    this.#allowed = new Uint8Array(256 * positions.length);
    this.#shifts = new Uint8Array(256).fill(positions.length);
    for (const [position, bytes] of positions.entries())
      for (const byte of bytes) {
        this.#allowed[256 * position + byte] = 1;
        if (position < last) this.#shifts[byte] = last - position;
      }
  }

  /** Returns the index of the first match at or after `from`; -1 when there is none. */
  indexIn(bytes: Uint8Array, from = 0): number {
    const [allowed, shifts, last] = [this.#allowed, this.#shifts, this.#length - 1];
    if (last < 0) return from < bytes.length ? from : -1;
    for (let end = from + last; end < bytes.length; end += shifts[bytes[end] as number] as number) {
      let position = last;
      while (allowed[256 * position + (bytes[end - last + position] as number)] === 1) {
        if (position === 0) return end - last;
        position--;
      }
    }
    return -1;
  }
}

/** Returns the positions of a character; null when its cases differ in length, so that it has no fixed positions. */
function byteSets(character: string): readonly ByteSet[] | null {
  const forms = caseVariants(character).map((variant) => Buffer.from(variant));
  const [first = Buffer.alloc(0)] = forms;
  if (forms.some((form) => form.length !== first.length)) return null;
  return [...first].map((_, index) => new Set(forms.map((form) => form[index] as number)));
}

/** Returns the positions of the longest run of characters that have fixed ones. */
function longestRun(characters: readonly (readonly ByteSet[] | null)[]): readonly ByteSet[] {
  let [longest, run]: [ByteSet[], ByteSet[]] = [[], []];
  for (const positions of characters) {
    run = positions === null ? [] : [...run, ...positions];
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

/** Every UTF-16 unit that has a case; collected when first needed, which takes some milliseconds. */
let casedUnits: string | undefined;

/** Returns the characters that `literalPattern` takes for this one, itself included. */
function caseVariants(character: string): readonly string[] {
  casedUnits ??= Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
    .join("")
    .replace(/\P{Changes_When_Casemapped}+/gu, "");
  return casedUnits.match(new RegExp(literalPattern(character), "gi")) ?? [character];
}
