import { commonness } from "./byte-rarity.js";
import { caseVariants } from "./case-variants.js";
import { type Kernel, MAX_GAP } from "./kernel.js";

/** More characters are not compared: what these let through is few, and looked at again anyway. */
const MAX_CHARACTERS = 48;

/** A character as bytes, in all its cases: no form is the beginning or the end of another. */
type Forms = readonly Buffer[];

/** Where to look first: two bytes of the text, at a distance that is the same in whatever case it is. */
interface Anchor {
  /** The character that the bytes before the first one are counted from. */
  readonly character: number;
  /** From the start of that character to the first byte. */
  readonly offset: number;
  readonly gap: number;
  readonly first: readonly [number, number];
  readonly second: readonly [number, number];
}

/** A byte with a fixed place. */
interface Place {
  readonly character: number;
  readonly offset: number;
  readonly values: readonly [number, number];
  readonly weight: number;
}

/** Finds literal text in UTF-8, in any case, as `literalPattern` of the core has it. */
export class BytePattern {
  /** How many bytes before and from an anchor on belong to a match, at most. */
  readonly back: number;
  readonly ahead: number;
  readonly #characters: readonly Forms[];
  readonly #anchor: Anchor;

  private constructor(characters: readonly Forms[], anchor: Anchor) {
    this.#characters = characters;
    this.#anchor = anchor;
    this.back = longest(characters.slice(0, anchor.character)) + anchor.offset;
    this.ahead = longest(characters.slice(anchor.character)) - anchor.offset;
  }

  /** The pattern for a text; null for one whose bytes tell nothing, such as none. */
  static of(text: string): BytePattern | null {
    const characters = [...text].slice(0, MAX_CHARACTERS).map(formsOf);
    const anchor = anchorIn(characters);
    return anchor === null ? null : new BytePattern(characters, anchor);
  }

  /**
   * The anchor of the first match whose anchor is in `[from, to)` of a kernel's memory; -1 when there is none.
   *
   * @param end - where the bytes to look at end
   */
  find({ memory, find }: Kernel, from: number, to: number, end: number): number {
    const { first, second, gap } = this.#anchor;
    for (let next = from; next < to; ) {
      const at = find(next, to, first[0], first[1], second[0], second[1], gap);
      if (at < 0 || at >= to) return -1;
      if (this.#matches(memory, at, end)) return at;
      next = at + 1;
    }
    return -1;
  }

  #matches(bytes: Buffer, at: number, end: number): boolean {
    const { character, offset } = this.#anchor;
    const start = at - offset;
    if (start < 0) return false;
    let next = start;
    for (let index = character; index < this.#characters.length; index++) {
      const form = this.#characters[index]?.find((one) => standsAt(bytes, next, end, one));
      if (form === undefined) return false;
      next += form.length;
    }
    let before = start;
    for (let index = character - 1; index >= 0; index--) {
      const form = this.#characters[index]?.find((one) =>
        standsAt(bytes, before - one.length, end, one),
      );
      if (form === undefined) return false;
      before -= form.length;
    }
    return true;
  }
}

function formsOf(character: string): Forms {
  return caseVariants(character).map((variant) => Buffer.from(variant, "utf8"));
}

function standsAt(bytes: Buffer, at: number, end: number, form: Buffer): boolean {
  if (at < 0 || at + form.length > end) return false;
  for (let index = 0; index < form.length; index++)
    if (bytes[at + index] !== form[index]) return false;
  return true;
}

/** The two bytes that are least often where they should be. */
function anchorIn(characters: readonly Forms[]): Anchor | null {
  let best: Anchor | null = null;
  let least = Infinity;
  for (const places of fixedPlaces(characters))
    for (const [index, one] of places.entries())
      for (const other of places.slice(index)) {
        const gap = other.offset - one.offset;
        const weight = gap === 0 ? one.weight : one.weight * other.weight;
        if (gap > MAX_GAP || weight >= least) continue;
        least = weight;
        best = { ...one, gap, first: one.values, second: other.values };
      }
  return best;
}

/** The bytes at a distance from each other that is the same in every case, and with two values at most. */
function fixedPlaces(characters: readonly Forms[]): Place[][] {
  const runs: Place[][] = [];
  let run: Place[] | undefined;
  let begun = 0;
  let offset = 0;
  for (const [index, forms] of characters.entries()) {
    const bytes = forms[0]?.length ?? 0;
    if (forms.some((form) => form.length !== bytes)) {
      run = undefined;
      continue;
    }
    if (run === undefined) {
      run = [];
      runs.push(run);
      begun = index;
      offset = 0;
    }
    for (let byte = 0; byte < bytes; byte++, offset++) {
      const values = [...new Set(forms.map((form) => form[byte] as number))];
      const [one, other = one] = values;
      if (one !== undefined && other !== undefined && values.length <= 2)
        run.push({ character: begun, offset, values: [one, other], weight: commonness(values) });
    }
  }
  return runs;
}

function longest(characters: readonly Forms[]): number {
  return characters.reduce((sum, forms) => sum + Math.max(...forms.map((form) => form.length)), 0);
}
