import { editDistance } from "../unknown-names.js";
import type { YieldingClock } from "../yielding-clock.js";
import type { Vocabulary } from "./vocabulary.js";

/** Shortest word that is taken for a misspelling. */
const MIN_CHARS = 4;
/** Shortest word that may have two mistakes. */
const TWO_MISTAKES_CHARS = 8;
/** Most words that are equally near. */
const MAX_WORDS = 3;
/** Words that are compared before other work may run. */
const SLICE = 512;

/** Returns the known words that an unknown one was probably meant to be, the most frequent first; none when none is near. */
export async function nearestWords(
  vocabulary: Vocabulary,
  word: string,
  clock: YieldingClock,
): Promise<readonly number[]> {
  if (word.length < MIN_CHARS || /\d/.test(word)) return [];
  let least = word.length < TWO_MISTAKES_CHARS ? 1 : 2;
  let nearest: number[] = [];
  const letters = lettersOf(word);
  for (let id = 0; id < vocabulary.size; id++) {
    if (id % SLICE === 0) await clock.tick();
    const known = vocabulary.wordOf(id);
    if (Math.abs(known.length - word.length) > least || known.length < MIN_CHARS - 1) continue;
    // Each mistake changes at most two letters of the set.
    if (bitCount(letters ^ lettersOf(known)) > 2 * least) continue;
    if (vocabulary.textsWith(id) === 0) continue;
    const distance = editDistance(word, known, least + 1);
    if (distance > least) continue;
    if (distance < least) nearest = [];
    least = distance;
    nearest.push(id);
  }
  return nearest
    .sort((a, b) => vocabulary.textsWith(b) - vocabulary.textsWith(a))
    .slice(0, MAX_WORDS);
}

/** Set of the letters of a word, as bits. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index++) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
