import { createHash } from "node:crypto";
import {
  characterEstimate,
  InMemoryOffloader,
  ReActAgent,
  type TextBlock,
  toolResult,
  toolResultsOf,
} from "@holdfast/core";
import { evictionOf, toolResultEviction } from "@holdfast/eviction";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { offloaderThat, RecordingOffloader, readBack } from "./offloaders.js";
import { eventsOf, onlyResult, takeTurn, textIn, toolThat } from "./one-turn.js";

const alice = { userId: "alice", sessionId: "s1" };
const long = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join("\n");

describe("a large result", () => {
  test("leaves its head and its tail, and the pointer in front of both", async () => {
    const offloader = new RecordingOffloader();
    const result = onlyResult(await takeTurn([toolThat(() => long)], { offloader }));
    const text = textIn(result);
    const reference = evictionOf(result)?.reference ?? "none";
    const [notice, ...rest] = text.split("\n\n");
    expect(notice).toContain(`${long.length} characters`);
    expect(notice).toContain(`Read it with read_offloaded, reference "${reference}".`);
    expect(rest).toEqual([
      long.slice(0, 2_000),
      `[… ${long.length - 4_000} characters left out …]`,
      long.slice(-2_000),
    ]);
  });

  test("is read back whole by the session it belongs to", async () => {
    const offloader = new RecordingOffloader();
    const result = onlyResult(await takeTurn([toolThat(() => long)], { offloader }));
    const { reference } = evictionOf(result) ?? { reference: "none" };
    expect(await readBack(offloader, alice, reference)).toBe(long);
    expect(await readBack(offloader, { ...alice, userId: "bob" }, reference)).toBeNull();
  });

  test("is a preview for the model and in the saved state, and whole in the log", async () => {
    const turn = await takeTurn([toolThat(() => long)], { offloader: new InMemoryOffloader() });
    const shown = turn.model.requests[1]?.messages.flatMap(toolResultsOf);
    expect(shown).toEqual([onlyResult(turn)]);
    expect(turn.state.toJson()).not.toContain("line 10000");
    const logged = turn.log.flatMap(({ message }) => (message ? toolResultsOf(message) : []));
    expect(logged.map(({ output }) => output)).toEqual([[{ type: "text", text: long }]]);
  });

  test("tells those who watch, and leaves a mark in the log", async () => {
    const turn = await takeTurn([toolThat(() => long)], { offloader: new InMemoryOffloader() });
    const { toolCallId, name } = onlyResult(turn);
    const eviction = evictionOf(onlyResult(turn));
    expect(eviction).toEqual({ reference: expect.any(String), chars: long.length });
    expect(eventsOf(turn, "tool_result_evicted")).toMatchObject([
      { toolCallId, name, ...eviction },
    ]);
    const marks = turn.log.filter(({ mark }) => mark?.name === "eviction");
    const sha256 = createHash("sha256").update(long).digest("hex");
    expect(marks.map(({ mark }) => mark?.details)).toEqual([
      { callId: toolCallId, name, ...eviction, sha256 },
    ]);
    expect(eventsOf(turn, "error")).toEqual([]);
  });

  test("keeps its call, its name, its state and its other metadata", async () => {
    const answer = toolResult({ output: long, state: "error", metadata: { exitCode: 1 } });
    const offloader = new InMemoryOffloader();
    const turn = await takeTurn([toolThat(() => answer, "execute")], { offloader });
    const [call] = turn.state.context.flatMap(({ content }) =>
      content.filter((block) => block.type === "tool_call"),
    );
    expect(onlyResult(turn)).toMatchObject({
      toolCallId: call?.id,
      name: "execute",
      state: "error",
      metadata: { exitCode: 1, evicted: { chars: long.length } },
    });
  });

  test("of several text blocks becomes one text, in order", async () => {
    const offloader = new RecordingOffloader();
    const blocks: TextBlock[] = ["a", "b", "c"].map((letter) => ({
      type: "text",
      text: letter.repeat(50_000),
    }));
    const result = onlyResult(await takeTurn([toolThat(() => blocks)], { offloader }));
    expect(result.output).toHaveLength(1);
    expect(textIn(result)).toMatch(/\n\na{2000}\n\n.*\n\nc{2000}$/);
    expect(offloader.results[0]?.result.output).toEqual(blocks);
    expect(await readBack(offloader, alice, evictionOf(result)?.reference ?? "")).toBe(
      blocks.map(({ text }) => text).join("\n"),
    );
  });

  test("is text to us, whatever stands in it", async () => {
    const hostile = "$& $1 $` $' {readBack} \0 ".repeat(5_000);
    const result = onlyResult(
      await takeTurn([toolThat(() => hostile)], { offloader: new InMemoryOffloader() }),
    );
    expect(textIn(result).split("\n\n").slice(1)).toEqual([
      hostile.slice(0, 2_000),
      expect.stringContaining("left out"),
      hostile.slice(-2_000),
    ]);
  });

  test("is never cut within a character", async () => {
    for (const shift of ["", "x"]) {
      const text = `${shift}${"😀".repeat(45_000)}${shift}`;
      const result = onlyResult(
        await takeTurn([toolThat(() => text)], { offloader: new InMemoryOffloader() }),
      );
      expect(/\p{Surrogate}/u.test(textIn(result))).toBe(false);
    }
  });

  test("has the same preview when the same tool says the same again", async () => {
    const fetch = toolThat(() => long);
    const model = scriptedModel([
      { toolCalls: [{ name: "fetch_page", input: {} }] },
      { toolCalls: [{ name: "fetch_page", input: {} }] },
      "Done.",
    ]);
    const agent = new ReActAgent({
      name: "agent",
      model,
      tools: [fetch],
      offloader: new InMemoryOffloader(),
      plugins: [toolResultEviction()],
    });
    await agent.call("Go.", alice);
    const state = await agent.getAgentState(alice);
    const [first, second] = state?.context.flatMap(toolResultsOf) ?? [];
    expect(first?.toolCallId).not.toBe(second?.toolCallId);
    expect(second).toEqual({ ...first, toolCallId: second?.toolCallId });
    await agent.close();
  });
});

describe("a result within the limit", () => {
  test("stays as it is, to the last character", async () => {
    for (const [length, evicted] of [
      [80_000, false],
      [80_001, true],
    ] as const) {
      const offloader = new RecordingOffloader();
      const turn = await takeTurn([toolThat(() => "x".repeat(length))], { offloader });
      expect(offloader.results).toHaveLength(evicted ? 1 : 0);
      expect(eventsOf(turn, "tool_result_evicted")).toHaveLength(evicted ? 1 : 0);
      expect(evictionOf(onlyResult(turn)) !== null).toBe(evicted);
    }
  });

  test("may have fewer tokens than characters allow, by the agent's own counter", async () => {
    const counter = {
      id: "words",
      countText: (text: string) => text.split(" ").length,
      countMessages: () => 0,
      countTools: () => 0,
    };
    const words = "word ".repeat(1_500);
    const evictionWith = async (maxResultTokens?: number, agent = {}) =>
      evictionOf(
        onlyResult(
          await takeTurn([toolThat(() => words)], {
            offloader: new InMemoryOffloader(),
            eviction: { maxResultTokens },
            agent,
          }),
        ),
      );
    expect(await evictionWith()).toBeNull();
    expect(await evictionWith(1_400, { tokenCounter: counter })).not.toBeNull();
    expect(await evictionWith(1_600, { tokenCounter: counter })).toBeNull();
    const estimated = characterEstimate().countText(words);
    expect(await evictionWith(estimated - 1)).not.toBeNull();
    expect(await evictionWith(estimated)).toBeNull();
  });
});

test("a result that was evicted before passes unchanged, whatever its data weighs", async () => {
  const answer = toolResult({
    output: [
      { type: "text", text: "a preview" },
      { type: "data", mediaType: "x/y", source: { kind: "base64", data: "A".repeat(100_000) } },
    ],
    metadata: { evicted: { reference: "there", chars: 500_000 } },
  });
  const offloader = new RecordingOffloader();
  const turn = await takeTurn([toolThat(() => answer)], { offloader });
  expect(onlyResult(turn)).toMatchObject({ output: answer.output, metadata: answer.metadata });
  expect(offloader.data).toEqual([]);
  expect(eventsOf(turn, "tool_result_evicted")).toEqual([]);
});

test("a tool cannot keep a large text in the context by calling it evicted", async () => {
  const answer = toolResult({
    output: long,
    metadata: { evicted: { reference: "nowhere", chars: 1 } },
  });
  const offloader = new RecordingOffloader();
  const result = onlyResult(await takeTurn([toolThat(() => answer)], { offloader }));
  expect(evictionOf(result)).toMatchObject({ chars: long.length });
  expect(await readBack(offloader, alice, evictionOf(result)?.reference ?? "")).toBe(long);
});

test("a text over the tokens that is shorter than two previews gets a shorter preview", async () => {
  const text = Array.from({ length: 1_000 }, (_, index) => `${1_000 + index} `).join("");
  const result = onlyResult(
    await takeTurn([toolThat(() => text)], {
      offloader: new InMemoryOffloader(),
      eviction: { maxResultTokens: 1_000, previewChars: 10_000 },
    }),
  );
  expect(textIn(result).split("\n\n").slice(1)).toEqual([
    text.slice(0, 2_250),
    "[… 500 characters left out …]",
    text.slice(-2_250),
  ]);
});

test("a result that would not become smaller stays, and nobody is told otherwise", async () => {
  const text = "x".repeat(1_100);
  const turn = await takeTurn([toolThat(() => text)], {
    offloader: offloaderThat(async () => ({ reference: "r", readBack: "Read r. ".repeat(100) })),
    eviction: { maxResultChars: 1_000 },
  });
  expect(onlyResult(turn).output).toEqual([{ type: "text", text }]);
  expect(evictionOf(onlyResult(turn))).toBeNull();
  expect(eventsOf(turn, "tool_result_evicted")).toEqual([]);
  expect(eventsOf(turn, "error")).toEqual([]);
});
