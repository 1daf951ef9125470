import {
  type DataBlock,
  type JsonObject,
  type Offloader,
  type TextBlock,
  type ToolResultBlock,
  type ToolResultState,
  toolResult,
} from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import { type EvictionOptions, evictionOf } from "@holdfast/eviction";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RecordingOffloader, readBack } from "./offloaders.js";
import { eventsOf, onlyResult, type TurnTaken, takeTurn, textIn, toolThat } from "./one-turn.js";

const numRuns = process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 60;

/** Room for the notice and for notes about data, beside what the limits allow. */
const NOTES_CHARS = 4_000;

const unit = fc.oneof(
  fc.constantFrom("$&", "$'", "\n", "\n\n", "[…", "]", "\0", "😀", "👨‍👩‍👧", "é", "漢", "line 1\n"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
);

/** Text of up to some thousand characters: a short piece, repeated. */
const longText = fc
  .tuple(fc.array(unit, { maxLength: 5 }), fc.integer({ min: 0, max: 1_500 }))
  .map(([units, times]) => units.join("").repeat(times).slice(0, 12_000));

const textBlock: fc.Arbitrary<TextBlock> = longText
  // Slicing may have split a pair; a tool would not.
  .map((text) => (isWellFormed(text) ? text : text.slice(0, -1)))
  .map((text) => ({ type: "text", text }));

const dataBlock: fc.Arbitrary<DataBlock> = fc
  .record({
    mediaType: fc.constantFrom("image/png", "application/pdf"),
    length: fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 9_000 })),
    letter: fc.constantFrom("A", "B", "/"),
    kind: fc.constantFrom("base64", "url"),
    name: fc.option(fc.constantFrom("a.png", 'q"u"o', "😀"), { nil: undefined }),
  })
  .map(({ mediaType, length, letter, kind, name }) => ({
    type: "data",
    mediaType,
    source:
      kind === "base64"
        ? { kind, data: letter.repeat(length) }
        : { kind: "url", url: `https://example.org/${letter.repeat(length)}` },
    ...(name !== undefined && { name }),
  }));

const output = fc.array(fc.oneof({ weight: 2, arbitrary: textBlock }, dataBlock), {
  minLength: 1,
  maxLength: 6,
});

const state = fc.constantFrom<ToolResultState>("success", "error", "interrupted", "denied");

const metadata: fc.Arbitrary<JsonObject | undefined> = fc.constantFrom(
  undefined,
  { exitCode: 0 },
  JSON.parse('{"__proto__":{"a":1},"evicted":"yes"}') as JsonObject,
);

const eviction: fc.Arbitrary<EvictionOptions> = fc.record({
  maxResultChars: fc.integer({ min: 1_000, max: 12_000 }),
  maxResultTokens: fc.option(fc.integer({ min: 1_000, max: 3_000 }), { nil: undefined }),
  previewChars: fc.option(fc.integer({ min: 0, max: 250 }), { nil: undefined }),
});

type Output = ToolResultBlock["output"];

function turnWith(
  made: { output: Output; state: ToolResultState; metadata?: JsonObject | undefined },
  offloader: Offloader,
  options: EvictionOptions,
): Promise<TurnTaken> {
  return takeTurn([toolThat(() => toolResult(made))], { offloader, eviction: options });
}

function charsIn(parts: Output): number {
  const weights = parts.map((part) => {
    if (part.type === "text") return part.text;
    return part.source.kind === "url" ? part.source.url : part.source.data;
  });
  return weights.join("").length;
}

function textsOf(parts: Output): string[] {
  return parts.flatMap((part) => (part.type === "text" ? part.text : []));
}

test("whatever a tool returns: nothing is lost, the rest is small, and a second time changes nothing", async () => {
  let evictions = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({ output, state, metadata }),
      eviction,
      fc.boolean(),
      async (made, options, takesData) => {
        const recorder = new RecordingOffloader();
        const offloader: Offloader = {
          readBackTool: recorder.readBackTool,
          offloadContext: (slot, messages) => recorder.offloadContext(slot, messages),
          offloadToolResult: (slot, result) => recorder.offloadToolResult(slot, result),
          ...(takesData && { offloadData: (slot, block) => recorder.offloadData(slot, block) }),
        };
        const turn = await turnWith(made, offloader, options);
        const result = onlyResult(turn);
        const evicted = evictionOf(result);
        expect(eventsOf(turn, "error")).toEqual([]);
        expect(result.state).toBe(made.state);
        if (evicted === null) {
          expect(result).toMatchObject({ output: made.output });
          return;
        }
        evictions++;
        const { evicted: _, ...others } = result.metadata ?? {};
        const { evicted: __, ...othersBefore } = made.metadata ?? {};
        expect(JSON.stringify(others)).toBe(JSON.stringify(othersBefore));

        // Every data block is in the result or was taken, each once.
        const kept = result.output.filter((part) => part.type === "data");
        const before = made.output.filter((part) => part.type === "data");
        const sorted = (blocks: Output) => blocks.map((one) => JSON.stringify(one)).sort();
        expect(sorted([...kept, ...recorder.data])).toEqual(sorted(before));
        expect(evicted.data ?? []).toHaveLength(recorder.data.length);

        // Every text is in the result, or in what was taken and in what the model reads back.
        const [taken] = recorder.results;
        const texts = textsOf(made.output);
        if (taken) {
          const stored = textsOf(taken.result.output);
          expect(stored.filter((text) => texts.includes(text)).length).toBeGreaterThanOrEqual(
            texts.length,
          );
          const session = { userId: "alice", sessionId: "s1" };
          expect(await readBack(offloader, session, evicted.reference)).toBe(stored.join("\n"));
        } else for (const text of texts) expect(textsOf(result.output)).toContain(text);

        // What stays is well formed and within the limits.
        expect(isWellFormed(textIn(result))).toBe(true);
        const { maxResultChars = 0 } = options;
        expect(textIn(result).length).toBeLessThanOrEqual(maxResultChars + NOTES_CHARS);
        expect(charsIn(result.output)).toBeLessThan(charsIn(made.output));

        const again = await turnWith(
          { output: result.output, state: result.state, metadata: result.metadata },
          offloader,
          options,
        );
        expect(onlyResult(again)).toMatchObject({
          output: result.output,
          metadata: { evicted: { ...evicted } },
        });
        expect(eventsOf(again, "tool_result_evicted")).toEqual([]);
      },
    ),
    { numRuns },
  );
  expect(evictions).toBeGreaterThan(numRuns / 4);
});
