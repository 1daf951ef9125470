import type { AgentEvent, EventBody } from "@holdfast/core";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgUiEncoder } from "../src/ag-ui/ag-ui-encoder.js";
import { settledParts } from "../src/ai-sdk/settled-parts.js";
import type { UiChunk } from "../src/ai-sdk/ui-chunk.js";
import { UiChunkEncoder } from "../src/ai-sdk/ui-chunk-encoder.js";
import { uiHistory } from "../src/ai-sdk/ui-history.js";
import { fold } from "./ai-sdk-clients.js";
import { type Kill, killRun } from "./killed-run.js";

const usage = { inputTokens: 1, outputTokens: 1 };
const text = (messageId: string, words: string): EventBody => ({
  type: "text_delta",
  text: words,
  messageId,
  blockId: `${messageId}.1`,
});
const lookUp = (messageId: string): EventBody[] => [
  { type: "tool_call_start", toolCallId: `${messageId}.c`, name: "weather", messageId },
  { type: "tool_call_end", toolCallId: `${messageId}.c`, name: "weather", input: {} },
];
const saved: EventBody = {
  ...{ type: "state_saved", bytes: 1, durationMs: 1, revision: "1", final: false },
};

/** A call whose process dies in the third step, of which the first was saved, and that another process goes on with. */
const events: readonly AgentEvent[] = [
  { type: "call_start" } as const,
  text("m1", "Saved. "),
  saved,
  text("m2", "Lost. "),
  ...lookUp("m2"),
  text("m3", "Half a wo"),
  { type: "run_lost" } as const,
  { type: "call_start" } as const,
  { type: "run_resumed", reason: "error", messageIds: ["m1"] } as const,
  text("m4", "Said again."),
  { type: "call_end", reason: "stop", usage, durationMs: 1 } as const,
].map((body, seq) => ({
  ...(body as EventBody),
  slot: { agentId: "a", userId: "alice", sessionId: "trip" },
  callId: "c",
  seq,
}));

describe("a run that was lost and goes on in another process", () => {
  test.each([5, 6, 7] as const)(
    "is shown without what was not saved, in version %i",
    async (version) => {
      const encoder = new UiChunkEncoder({ version });
      const chunks = events.flatMap((event) => [...encoder.encode(event)]);
      expect(chunks.filter(({ type }) => type === "start")).toHaveLength(1);
      const { message, errors } = await fold(version, chunks);
      expect(errors).toEqual([]);
      expect(settledParts(message)).toMatchObject([
        { type: "step-start" },
        { type: "text", text: "Saved. " },
        { type: "step-start" },
        { type: "text", text: "Said again." },
      ]);
    },
  );

  test("is taken back by name in AG-UI", () => {
    const encoder = new AgUiEncoder({ threadId: "trip", runId: "r" });
    const encoded = events.flatMap((event) => [...encoder.encode(event)]);
    expect(encoded.filter(({ type }) => type === "RUN_STARTED")).toHaveLength(1);
    expect(encoded).toContainEqual({
      type: "CUSTOM",
      name: "holdfast.discarded",
      value: { messageIds: ["m2", "m3"], toolCallIds: ["m2.c"] },
    });
    expect(encoded.at(-1)?.type).toBe("RUN_FINISHED");
  });
});

test("a stream that ends without its call is ended with an error", async () => {
  const encoder = new UiChunkEncoder();
  const chunks = events.slice(0, 6).flatMap((event) => [...encoder.encode(event)]);
  const { errors } = await fold(6, [...chunks, ...encoder.cut()]);
  expect(errors).toEqual([expect.stringContaining("not available")]);
  const other = new AgUiEncoder({ threadId: "trip", runId: "r" });
  for (const event of events.slice(0, 7)) other.encode(event);
  expect(other.cut().map(({ type }) => type)).toEqual([
    "TEXT_MESSAGE_END",
    "STEP_FINISHED",
    "RUN_ERROR",
  ]);
});

/** Deaths at every event of a turn of one to four replies, of which readers miss up to six events. */
const kills: fc.Arbitrary<Kill> = fc.record({
  steps: fc.integer({ min: 0, max: 3 }),
  instant: fc.integer({ min: 3, max: 45 }),
  lost: fc.nat(6),
});

describe("a process killed at any event", () => {
  test.each([5, 6, 7] as const)(
    "leaves no word twice at any time once another goes on, and the log's turn in the end, in version %i",
    async (version) => {
      await fc.assert(
        fc.asyncProperty(kills, fc.boolean(), async (kill, isWatched) => {
          const { events, resumed, context, records } = await killRun(kill);
          // Nobody has to go on with a turn that was saved whole.
          fc.pre(resumed.some(({ type }) => type === "run_resumed"));
          const encoder = new UiChunkEncoder({ version });
          const chunks: UiChunk[] = [];
          let goesOn = false;
          for (const event of isWatched ? events : resumed) {
            if (event.type === "run_resumed") encoder.know(context);
            const added = encoder.encode(event);
            chunks.push(...added);
            goesOn ||= event.type === "run_resumed";
            if (!goesOn || added.length === 0) continue;
            const { message } = await fold(version, chunks);
            expect(wordsTwice(settledParts(message))).toEqual([]);
          }
          const { message, errors } = await fold(version, chunks);
          expect(errors).toEqual([]);
          const [, turn] = uiHistory(records, { version, pending: [] });
          const { createdAt: _, ...metadata } = turn?.metadata ?? {};
          const expected = JSON.parse(JSON.stringify({ ...turn, metadata }));
          expect({ ...message, parts: settledParts(message) }).toEqual(expected);
        }),
        { numRuns: scaled(12, 300) },
      );
    },
  );
});

function wordsTwice(parts: readonly object[]): string[] {
  const words: readonly string[] = JSON.stringify(parts).match(/<\w+>/g) ?? [];
  return words.filter((word, at) => words.indexOf(word) !== at);
}
