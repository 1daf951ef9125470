import fc from "fast-check";

/** What a text is made of; written out by {@link writeText}, so that long ones cost nothing to generate. */
export interface TextPlan {
  readonly words: string;
  readonly times: number;
}

/** Text that breaks careless code: replacement patterns, places of templates, halves of pairs. */
export const nasty: readonly string[] = [
  "$& $' $` $1 $$",
  "{messages}",
  "{summary}",
  "</summary>",
  "<kept>\nnowhere\n</kept>",
  "<summary_so_far>",
  "\ud83d",
  "\ude00 tail",
  "😀😀",
  "__proto__",
  "\u0000\u2028",
  "   ",
  "",
];

const utf16 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
  .map((units) => String.fromCharCode(...units));
const words = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("yes", "look at the report", "done: 17 of 20 rows") },
  { weight: 2, arbitrary: fc.constantFrom(...nasty) },
  { weight: 1, arbitrary: utf16 },
);

/** Mostly short texts, some of a page, a few of tens of kilobytes. */
export const textPlans: fc.Arbitrary<TextPlan> = fc.record({
  words,
  times: fc.oneof(
    { weight: 30, arbitrary: fc.constant(1) },
    { weight: 9, arbitrary: fc.integer({ min: 2, max: 60 }) },
    { weight: 1, arbitrary: fc.integer({ min: 500, max: 1_500 }) },
  ),
});

/** The text, with `fact` in the middle of it. */
export function writeText({ words, times }: TextPlan, fact: string): string {
  const half = `${words} `.repeat(Math.ceil(times / 2));
  return `${half}${fact} ${half}`;
}
