const TIMES =
  setOf(`yesterday today tomorrow tonight ago last next day days week weeks weekend month months year years morning
  evening night noon midnight spring summer autumn winter christmas easter monday tuesday wednesday thursday friday saturday
  sunday january february march april june july august september october november december`);
const LENGTHS =
  setOf(`second seconds minute minutes hour hours day days night nights week weeks weekend month months year years
  decade decades since`);
const NUMBERS =
  setOf(`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
  eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen half quarter couple few
  several`);
const DIGITS = /^\d{1,4}(?:st|nd|rd|th|k|am|pm)?$/;

/** Questions in English that ask for something with words of its own, and these words. */
const QUESTIONS: readonly (readonly [question: RegExp, words: readonly ReadonlySet<string>[]])[] = [
  [/\bhow (?:long|old)\b/i, [LENGTHS, NUMBERS]],
  [/\bhow (?:many|much)\b|\b(?:what|which) (?:number|amount|price|percentage)\b/i, [NUMBERS]],
  [/\bwhen\b|\b(?:what|which) (?:day|date|time|year|month|week|season)\b/i, [TIMES]],
];

/**
 * Returns a test for words that an answer to a question probably has: times for `when`, numbers for `how many`; undefined for
 * other questions.
 */
export function answerWords(question: string): ((word: string) => boolean) | undefined {
  const [, sets] = QUESTIONS.find(([each]) => each.test(question)) ?? [];
  return sets && ((word) => sets.some((set) => set.has(word)) || DIGITS.test(word));
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}
