import fc from "fast-check";

/** What a tool returned: text, or bytes. */
export type Piece = { readonly text: string } | { readonly base64: string };

/** One call of the tool `work` and what it returns. */
export interface PlannedCall {
  readonly note: string;
  readonly lines: readonly string[];
  readonly returns: readonly Piece[];
}

/** One reply of the model that calls tools. */
export interface PlannedStep {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

/** How a turn ends. */
export type TurnEnd = "answer" | "interrupt in a tool" | "interrupt between steps";

/** One call of the agent. */
export interface PlannedTurn {
  readonly user: number;
  readonly session: number;
  readonly input: string;
  readonly steps: readonly PlannedStep[];
  readonly answer: string;
  readonly end: TurnEnd;
}

/** A conversation of two users with one agent, and what happens to its contexts. */
export interface History {
  readonly summary: boolean;
  readonly truncateArgs: boolean;
  readonly prune: boolean;
  readonly eviction: boolean;
  readonly persistence: "call" | "step";
  readonly turns: readonly PlannedTurn[];
}

/** Text with everything that has ever broken a log: other scripts, escapes, patterns, halves of surrogate pairs. */
const words: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
      fc.constantFrom("\\", '"', "\n", "\t", "\u0000", "$&", "\ud83d", "\udc00", "</memory>"),
      fc.constantFrom("Ärger", "日本語", "👩‍👩‍👧", "Σίσυφος", "__proto__", "[1] x", "»«"),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => `${parts.join(" ")}.`);

/** Mostly short; some are longer than an eviction allows, few longer than a log keeps in one piece. */
const output: fc.Arbitrary<string> = fc
  .tuple(
    words,
    fc.oneof(
      { weight: 40, arbitrary: fc.constant(0) },
      { weight: 8, arbitrary: fc.integer({ min: 1_500, max: 4_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 66_000, max: 90_000 }) },
    ),
  )
  .map(([text, chars]) => (chars === 0 ? text : text.repeat(Math.ceil(chars / text.length))));

const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 8, arbitrary: output.map((text) => ({ text })) },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 4_000 })
      .map((bytes) => ({ base64: Buffer.from(bytes).toString("base64") })),
  },
);

const call: fc.Arbitrary<PlannedCall> = fc.record({
  note: output,
  lines: fc.array(words, { maxLength: 2 }),
  returns: fc.array(piece, { minLength: 1, maxLength: 2 }),
});

const turn: fc.Arbitrary<PlannedTurn> = fc.record({
  user: fc.integer({ min: 0, max: 1 }),
  session: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constant(1)),
  input: words,
  steps: fc.array(
    fc.record({
      thinking: fc.oneof(fc.constant(""), words),
      text: fc.oneof(fc.constant(""), words),
      calls: fc.array(call, { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 3 },
  ),
  answer: words,
  end: fc.oneof(
    { weight: 6, arbitrary: fc.constant<TurnEnd>("answer") },
    fc.constantFrom<TurnEnd>("interrupt in a tool", "interrupt between steps"),
  ),
});

/** Random histories of up to eight turns. */
export const histories: fc.Arbitrary<History> = fc.record({
  summary: fc.boolean(),
  truncateArgs: fc.boolean(),
  prune: fc.boolean(),
  eviction: fc.boolean(),
  persistence: fc.constantFrom("call", "step"),
  turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
});
