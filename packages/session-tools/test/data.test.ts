import { type DataBlock, toolResultMessage, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { type Bench, bench, proposed } from "./bench.js";

function image(bytes: number, name = "picture"): DataBlock {
  const content = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));
  const source = { kind: "base64" as const, data: content.toString("base64") };
  return { type: "data", mediaType: "image/png", source, name };
}

async function readAll({ use }: Bench, first: object): Promise<string> {
  let whole = "";
  for (let input: object | null = first; input !== null; ) {
    const { page, blocks } = await use("history", input);
    whole += page;
    input = proposed(blocks[1]?.type === "text" ? blocks[1].text : "", "Go on: ");
  }
  return whole;
}

test.each([
  ["that the log keeps in the record", 300],
  ["that the log keeps apart", 90_000],
])("an image %s is given back as it was", async (_, bytes) => {
  const tools = bench();
  const at = await tools.say(userMessage([{ type: "text", text: "see" }, image(bytes)]));
  const { blocks } = await tools.use("history", { at, data: 0 });
  expect(blocks[0]).toEqual(image(bytes));
  expect(blocks[1]).toEqual({
    type: "text",
    text: `[data 0 of the message at ${at}: ${bytes} bytes.]`,
  });
});

test("data is numbered over the whole message, results of tools included", async () => {
  const tools = bench();
  const output = [image(3, "b"), { type: "text" as const, text: "and" }, image(3, "c")];
  const message = userMessage([
    image(3, "a"),
    { type: "tool_result", toolCallId: "c", name: "shot", state: "success", output },
    image(3, "d"),
  ]);
  const at = await tools.say(message);
  const { text } = await tools.use("history");
  for (const [index, name] of ["a", "b", "c", "d"].entries()) {
    expect(text).toContain(`[data ${index}: image/png, 3 bytes, "${name}"]`);
    const { blocks } = await tools.use("history", { at, data: index });
    expect(blocks[0]).toEqual(image(3, name));
  }
});

test("data beyond maxDataBytes, or with an offset, is read as pages of base64", async () => {
  const tools = bench({ maxDataBytes: 1_000, maxPageChars: 1_002 });
  const small = await tools.say(userMessage([image(1_000)]));
  const large = await tools.say(
    toolResultMessage({
      type: "tool_result",
      toolCallId: "c",
      name: "shot",
      state: "success",
      output: [image(70_001)],
    }),
  );
  expect((await tools.use("history", { at: small, data: 0 })).blocks[0]).toEqual(image(1_000));
  expect(await readAll(tools, { at: small, data: 0, offset: 0 })).toBe(dataOf(image(1_000)));
  expect(await readAll(tools, { at: large, data: 0 })).toBe(dataOf(image(70_001)));
  const { page } = await tools.use("history", { at: large, data: 0 });
  expect(Buffer.from(page, "base64").toString("base64")).toBe(page);
});

test("a URL is shown as it is and given back as it was, however long", async () => {
  const tools = bench({ maxDataBytes: 100_000 });
  for (const url of ["https://example.com/a.png", `data:,${"😀".repeat(20_000)}`]) {
    const block: DataBlock = { type: "data", mediaType: "image/png", source: { kind: "url", url } };
    const at = await tools.say(userMessage([block]));
    expect((await tools.use("history", { at, data: 0 })).blocks[0]).toEqual(block);
    expect(await readAll(tools, { at })).toContain(`[data 0: image/png, at ${url}]`);
    expect(await readAll(tools, { at, data: 0, offset: 0 })).toBe(url);
  }
});

test("data that is not there is refused in words", async () => {
  const tools = bench();
  const at = await tools.say(userMessage([image(3)]));
  const answer = await tools.use("history", { at, data: 1 });
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("no data 1")]);
  const behind = await tools.use("history", { at, data: 0, offset: 4 });
  expect([behind.isError, behind.text]).toEqual([true, expect.stringContaining("4 characters")]);
});

function dataOf({ source }: DataBlock): string {
  return source.kind === "base64" ? source.data : source.url;
}
