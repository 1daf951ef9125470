import type { DataBlock } from "@holdfast/core";
import { evictionOf } from "@holdfast/eviction";
import { expect, test } from "vitest";
import { offloaderThat, RecordingOffloader } from "./offloaders.js";
import { eventsOf, onlyResult, takeTurn, textIn, toolThat } from "./one-turn.js";

function image(chars: number, letter = "A", name?: string): DataBlock {
  return {
    type: "data",
    mediaType: "image/png",
    source: { kind: "base64", data: letter.repeat(chars) },
    ...(name !== undefined && { name }),
  };
}

const long = { type: "text" as const, text: `head${"x".repeat(90_000)}tail` };

test("data that fits stays beside the preview of the text", async () => {
  const offloader = new RecordingOffloader();
  const small = image(30_000);
  const result = onlyResult(await takeTurn([toolThat(() => [small, long])], { offloader }));
  expect(result.output).toEqual([{ type: "text", text: expect.stringContaining("head") }, small]);
  expect(offloader.data).toEqual([]);
  expect(evictionOf(result)?.data).toBeUndefined();
  // The stored text says where it stood; the data itself is not in it twice.
  expect(offloader.results[0]?.result.output).toEqual([
    { type: "text", text: "[image/png: it stayed in the conversation]" },
    long,
  ]);
});

test("data that does not fit goes apart, and a note with the reference stands in its place", async () => {
  const offloader = new RecordingOffloader();
  const large = image(200_000, "B", "chart.png");
  const before = { type: "text" as const, text: "before" };
  const after = { type: "text" as const, text: "after" };
  const turn = await takeTurn([toolThat(() => [before, large, after])], { offloader });
  const result = onlyResult(turn);
  const [reference] = evictionOf(result)?.data ?? [];
  expect(offloader.data).toEqual([large]);
  expect(offloader.results).toEqual([]);
  expect(result.output).toEqual([
    before,
    { type: "text", text: expect.stringContaining(`reference "${reference}"`) },
    after,
  ]);
  expect(textIn(result)).toContain('image/png "chart.png", 200000 characters as base64');
  expect(evictionOf(result)).toEqual({ reference, chars: 200_011, data: [reference] });
  expect(eventsOf(turn, "tool_result_evicted")).toMatchObject([{ reference, chars: 200_011 }]);
});

test("text and data that are both too large go each their way", async () => {
  const offloader = new RecordingOffloader();
  const [small, large] = [image(20_000), image(90_000, "B")];
  const result = onlyResult(await takeTurn([toolThat(() => [long, large, small])], { offloader }));
  const { reference, data } = evictionOf(result) ?? { reference: "", data: [] };
  expect(result.output).toEqual([
    { type: "text", text: expect.stringContaining(`reference "${reference}"`) },
    { type: "text", text: expect.stringContaining(`reference "${data?.[0]}"`) },
    small,
  ]);
  expect(offloader.data).toEqual([large]);
});

test("data stays up to the last character the limit allows", async () => {
  for (const [chars, taken] of [
    [80_000, 0],
    [80_001, 1],
  ] as const) {
    const offloader = new RecordingOffloader();
    await takeTurn([toolThat(() => [image(chars)])], { offloader });
    expect(offloader.data).toHaveLength(taken);
  }
});

test("small pieces of data stay, a note would be as long", async () => {
  const offloader = new RecordingOffloader();
  const large = image(100_000);
  const link: DataBlock = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "url", url: "https://example.org/a.png" },
  };
  const output = [large, ...Array.from({ length: 5 }, () => image(15_000)), image(500, "S"), link];
  const result = onlyResult(await takeTurn([toolThat(() => output)], { offloader }));
  expect(result.output.slice(-2)).toEqual([image(500, "S"), link]);
  expect(offloader.data).toEqual([large]);
});

test("data inside a URL counts like any other", async () => {
  const offloader = new RecordingOffloader();
  const block: DataBlock = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "url", url: `data:image/png;base64,${"A".repeat(100_000)}` },
  };
  const result = onlyResult(await takeTurn([toolThat(() => [block])], { offloader }));
  expect(offloader.data).toEqual([block]);
  expect(result.output).toHaveLength(1);
});

test("an offloader that takes no data leaves all of it in the result", async () => {
  const large = image(200_000);
  const offloader = offloaderThat(async () => ({ reference: "r", readBack: "Read r." }));
  const withText = onlyResult(await takeTurn([toolThat(() => [large, long])], { offloader }));
  expect(withText.output).toEqual([
    { type: "text", text: expect.stringContaining("Read r.") },
    large,
  ]);
  const turn = await takeTurn([toolThat(() => [large])], { offloader });
  expect(onlyResult(turn).output).toEqual([large]);
  expect(eventsOf(turn, "tool_result_evicted")).toEqual([]);
});

test("many pieces of data do not make the result large again: the stored text names them all", async () => {
  const offloader = new RecordingOffloader();
  const pieces = Array.from({ length: 200 }, (_, index) => image(1_000 + index, "D"));
  const result = onlyResult(
    await takeTurn([toolThat(() => pieces)], {
      offloader,
      eviction: { maxResultChars: 10_000 },
    }),
  );
  expect(JSON.stringify(result.output).length).toBeLessThan(16_000);
  const references = evictionOf(result)?.data ?? [];
  expect(references).toHaveLength(offloader.data.length);
  const kept = result.output.filter(({ type }) => type === "data");
  expect(kept.length + references.length).toBe(200);
  const stored = JSON.stringify(offloader.results[0]?.result.output);
  for (const reference of references) expect(stored).toContain(reference);
  expect(textIn(result)).toContain(`${references.length - 10} more pieces of data`);
});
