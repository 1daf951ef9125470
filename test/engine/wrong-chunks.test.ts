import { type Middleware, type Model, ModelError, ReActAgent, tool } from "@holdfast/core";
import { askModel } from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chunkModel, finish, text } from "./chunk-model.js";

const ended = { type: "finish", reason: "stop" };

/** Each wrong chunk, and what is said of it. */
const wrongChunks: readonly [unknown, RegExp][] = [
  [{ type: "text_delta", delta: "hi" }, /text_delta chunk whose text must be a string, got undefi/],
  [{ type: "text_delta", text: 5 }, /text must be a string, got a number/],
  [{ type: "thinking_delta" }, /thinking_delta chunk whose text must be a string/],
  [
    { type: "text-delta", delta: "hi" },
    /unknown chunk type "text-delta"; did you mean text_delta\?/,
  ],
  [{ type: "text", text: "hi" }, /unknown chunk type "text"; there are text_delta, thinking_delta/],
  [{ type: "toString" }, /unknown chunk type "toString"/],
  [{ type: "data", mediaType: "image/png" }, /source must be base64 data or a url, got undefined/],
  [{ type: "data", source: { kind: "url", url: "x" } }, /data chunk whose mediaType must be a str/],
  [{ type: "tool_call_delta", id: "x" }, /tool_call_delta chunk whose name must be a string/],
  [{ type: "tool_call", name: "t", input: {} }, /tool_call chunk whose id must be a string, got/],
  [{ type: "tool_call", id: "x", input: {} }, /tool_call chunk whose name must be a string, got/],
  [{ type: "tool_call", id: "x", name: "t", args: {} }, /input must be given, got undefined/],
  [ended, /finish chunk whose usage must be \{ inputTokens, outputTokens \} in numbers, got undef/],
  [
    { ...ended, usage: { promptTokens: 5 } },
    /usage must be \{ inputTokens, outputTokens \} in numb/,
  ],
  [{ ...ended, usage: { inputTokens: Number.NaN, outputTokens: 1 } }, /in numbers, got an object/],
  ["hi", /yielded a string where a chunk is needed/],
];

describe("a wrong chunk is refused with the model's name and what is wrong, without its words:", () => {
  test.each(wrongChunks)("%j", async (chunk, expected) => {
    const model = chunkModel([[text("so far"), chunk as never, finish()]], { id: "theirs" });
    const note = tool({ name: "t", description: "t", input: z.object({}), execute: () => "ran" });
    const agent = new ReActAgent({ name: "a", model, tools: [note] });
    const error = await agent.call("x").catch((reason: unknown) => reason);
    expect(ModelError.is(error), String(error)).toBe(true);
    expect((error as Error).message).toMatch(/^model theirs yielded /);
    expect((error as Error).message).toMatch(expected);
    expect((await agent.getAgentState())?.context).toHaveLength(1);
  });

  test.each(wrongChunks)("%j, of a hook, which is named", async (chunk, expected) => {
    const hook: Middleware = {
      name: "rewrite",
      async *onModelCall() {
        yield chunk as never;
        yield finish();
      },
    };
    const agent = new ReActAgent({ name: "a", model: chunkModel([]), middleware: [hook] });
    const error = await agent.call("x").catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/middleware "rewrite": onModelCall yielded /);
    expect(String(error)).toMatch(expected);
  });
});

describe("a model whose stream is none is named:", () => {
  const chunks = [text("hi"), finish()];
  test.each<[string, () => unknown, RegExp]>([
    ["a promise", async () => chunkModel([chunks]).stream({} as never), /returned a Promise where/],
    [
      "a promise that fails",
      async () => Promise.reject(new Error("no")),
      /returned a Promise where/,
    ],
    ["a list", () => chunks, /returned a list where an async iterable of chunks is needed/],
    ["nothing", () => undefined, /returned undefined where .* async \*stream\(request\)/],
  ])("%s", async (_, stream, expected) => {
    const model = { id: "theirs", stream } as unknown as Model;
    const error = await new ReActAgent({ name: "a", model }).call("x").catch((e: unknown) => e);
    expect(ModelError.is(error), String(error)).toBe(true);
    expect((error as Error).message).toMatch(/^model theirs returned /);
    expect((error as Error).message).toMatch(expected);
    const request = { system: "", messages: [], tools: [] };
    const { signal } = new AbortController();
    const asked = { model, request, purpose: "summary", signal, maxChars: 10, emit: () => {} };
    await expect(askModel(asked)).rejects.toThrow(expected);
  });
});
