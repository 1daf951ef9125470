import { InMemoryOffloader, toolResult } from "@holdfast/core";
import { evictionOf } from "@holdfast/eviction";
import { expect, test } from "vitest";
import { readBack } from "./offloaders.js";
import { eventsOf, onlyResult, takeTurn, textIn, toolThat } from "./one-turn.js";

const alice = { userId: "alice", sessionId: "s1" };
const long = "a line of text\n".repeat(20_000);

test.each([long.length + 1, 1e12, Number.MAX_VALUE])(
  "a tool cannot keep a large text in the context by saying that it had %d characters",
  async (chars) => {
    const metadata = { evicted: { reference: "nowhere", chars } };
    const offloader = new InMemoryOffloader();
    const answer = toolResult({ output: long, metadata });
    const result = onlyResult(await takeTurn([toolThat(() => answer)], { offloader }));
    expect(textIn(result).length).toBeLessThan(10_000);
    expect(await readBack(offloader, alice, evictionOf(result)?.reference ?? "")).toBe(long);
  },
);

test("a preview that is itself over a small limit is not evicted again", async () => {
  const offloader = new InMemoryOffloader();
  const eviction = { maxResultChars: 1_000, previewChars: 499 };
  const first = onlyResult(await takeTurn([toolThat(() => long)], { offloader, eviction }));
  expect(evictionOf(first)).not.toBeNull();
  const { output, metadata } = first;
  const again = toolResult({ output, metadata });
  const turn = await takeTurn([toolThat(() => again)], { offloader, eviction });
  expect(onlyResult(turn)).toMatchObject({ output, metadata });
  expect(eventsOf(turn, "tool_result_evicted")).toEqual([]);
});

test("small pieces of data do not keep a result large by being many", async () => {
  const output = Array.from({ length: 1_000 }, (_, index) => ({
    type: "data" as const,
    mediaType: "image/png",
    source: { kind: "base64" as const, data: String(index).padStart(400, "A") },
  }));
  const offloader = new InMemoryOffloader();
  const turn = await takeTurn([toolThat(() => output)], { offloader });
  const result = onlyResult(turn);
  const { data = [] } = evictionOf(result) ?? {};
  const kept = result.output.filter((part) => part.type === "data");
  expect(kept.length + data.length).toBe(1_000);
  expect(JSON.stringify(result.output).length).toBeLessThan(200_000);
  expect(await readBack(offloader, alice, data.at(-1) ?? "")).not.toBeNull();
});
