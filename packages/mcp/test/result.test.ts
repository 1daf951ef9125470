import type { DataBlock, TextBlock } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentBlocks } from "../src/result/content-blocks.js";
import { fitBlocks, resultOf } from "../src/result/result-of.js";

const origin = { server: "tiny", tool: "show" };
const outputOf = (answer: unknown) => resultOf(answer, origin, 10_000).output;
const text = (value: string) => ({ type: "text", text: value });

describe("what a server answers", () => {
  test("becomes blocks: text, images, sound, resources and links", () => {
    const content = [
      { type: "text", text: "hello" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAA=", mimeType: "audio/wav" },
      {
        type: "resource",
        resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "inside" },
      },
      { type: "resource", resource: { uri: "file:///a.bin", blob: "AA==" } },
      { type: "resource_link", uri: "file:///b", name: "b", description: "the\u0007 letter" },
    ];
    expect(outputOf({ content })).toEqual([
      text("hello"),
      { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AAAA" } },
      { type: "data", mediaType: "audio/wav", source: { kind: "base64", data: "AAA=" } },
      text("[resource] file:///a.txt · text/plain"),
      text("inside"),
      {
        type: "data",
        mediaType: "application/octet-stream",
        source: { kind: "base64", data: "AA==" },
        name: "file:///a.bin",
      },
      text("[resource link] b · file:///b · the letter"),
    ]);
  });

  test("that no model could be sent is left out and said so", () => {
    const content = [
      { type: "image", data: "not base64!", mimeType: "image/png" },
      { type: "hologram" },
      { type: "text" },
      null,
      { type: "resource" },
    ];
    const output = outputOf({ content });
    expect(output).toHaveLength(5);
    for (const block of output as TextBlock[]) expect(block.text).toContain("it was left out");
  });

  test("is base64 or is not, however large it is", () => {
    const large = "AAAA".repeat(3_000_000);
    const image = (data: string) => [{ type: "image", data, mimeType: "image/png" }];
    const typesOf = (data: string) => contentBlocks(image(data)).map((block) => block.type);
    for (const good of ["AA==", "AAA=", "AAAA", "ab+/AA==", large, `${large}AA==`])
      expect(typesOf(good)).toEqual(["data"]);
    for (const bad of [
      "",
      "=",
      "==",
      "A===",
      "====",
      "AAA",
      "AA=A",
      "AAAA=",
      "AA-_",
      `${large}AA!=`,
    ])
      expect(typesOf(bad)).toEqual(["text"]);
  });

  test("has its structured content once: as the text the server made of it, or as JSON", () => {
    const structuredContent = { b: 1, a: [true] };
    const repeated = [text('{ "a": [true], "b": 1 }')];
    expect(outputOf({ content: repeated, structuredContent })).toEqual(repeated);
    expect(outputOf({ content: [text("ok")], structuredContent })).toEqual([
      text("ok"),
      text('{"b":1,"a":[true]}'),
    ]);
    expect(outputOf({ structuredContent })).toEqual([text('{"b":1,"a":[true]}')]);
  });

  test("with nothing in it says so, and an error is an error", () => {
    expect(outputOf({ content: [] })).toEqual([text("(no output)")]);
    expect(resultOf({ content: [], isError: true }, origin, 10).state).toBe("error");
    expect(resultOf("what?", origin, 10).state).toBe("error");
  });
});

test("a result fits its bound but for the note, keeps the order, and loses nothing that fits", () => {
  const block = fc.oneof(
    fc.string({ maxLength: 30 }).map((value): TextBlock => ({ type: "text", text: value })),
    fc.string({ maxLength: 30 }).map(
      (data): DataBlock => ({
        type: "data",
        mediaType: "image/png",
        source: { kind: "base64", data },
      }),
    ),
  );
  const chars = (blocks: readonly (TextBlock | DataBlock)[]) =>
    blocks.reduce(
      (sum, one) =>
        sum +
        (one.type === "text" ? one.text : one.source.kind === "base64" ? one.source.data : "")
          .length,
      0,
    );
  fc.assert(
    fc.property(fc.array(block), fc.integer({ min: 1, max: 100 }), (blocks, max) => {
      const fitted = fitBlocks(blocks, max);
      if (chars(blocks) <= max) {
        expect(fitted).toEqual(blocks);
        return;
      }
      const kept = fitted.slice(0, -1);
      expect(chars(kept)).toBeLessThanOrEqual(max);
      expect((fitted.at(-1) as TextBlock).text).toContain(
        `[${chars(blocks) - chars(kept)} characters`,
      );
    }),
  );
});
