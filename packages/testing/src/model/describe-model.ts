import assert from "node:assert/strict";
import {
  ContextOverflowError,
  type Model,
  type ModelChunk,
  type ModelRequest,
  userMessage,
} from "@holdfast/core";
import { rejectionOf } from "../conformance/assert-rejects.js";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";

/** Options of {@link describeModel}. */
export interface ModelOptions extends SubjectOptions<Model> {
  /** A request the model answers with at least two chunks of text. @default "Say hello." */
  readonly textRequest?: Partial<ModelRequest> | undefined;
  /** A request the model answers with a call of one of its tools. */
  readonly toolRequest?: Partial<ModelRequest> | undefined;
  /** A request longer than the model's window. */
  readonly overflowRequest?: Partial<ModelRequest> | undefined;
}

/** Registers the tests every `Model` must pass. */
export function describeModel(name: string, options: ModelOptions): void {
  registerCases(`${name} as a Model`, modelCases(options), options);
}

/** The cases of {@link describeModel}. */
export function modelCases(options: ModelOptions): ConformanceCase[] {
  const check = caseFactory(options);
  const { toolRequest, overflowRequest } = options;
  const textRequest = (signal?: AbortSignal): ModelRequest =>
    request({ ...options.textRequest, ...(signal && { signal }) });
  const cases = [
    check(
      "a reply is text in chunks, then one finish with its usage, then nothing",
      async (model) => {
        assert.ok(model.id.length > 0);
        assertWellFormed(await chunksOf(model.stream(textRequest())), "stop");
      },
    ),
    check("two streams of one model do not mix", async (model) => {
      const replies = await Promise.all([1, 2, 3].map(() => chunksOf(model.stream(textRequest()))));
      for (const chunks of replies) assertWellFormed(chunks, "stop");
    }),
    check("a request aborted beforehand gets no reply", async (model) => {
      const stream = () => chunksOf(model.stream(textRequest(AbortSignal.abort())));
      await rejectionOf(stream, "an aborted request must fail");
    }),
    check("a stream stops soon after its signal aborts", async (model) => {
      const controller = new AbortController();
      const seen: ModelChunk[] = [];
      const stream = async (): Promise<void> => {
        for await (const chunk of model.stream(textRequest(controller.signal))) {
          seen.push(chunk);
          controller.abort();
        }
      };
      await rejectionOf(stream, "an aborted stream must fail");
      assert.ok(!seen.some(({ type }) => type === "finish"), "an aborted reply is not finished");
    }),
    check("a reader that leaves early harms no later request", async (model) => {
      for await (const _ of model.stream(textRequest())) break;
      assertWellFormed(await chunksOf(model.stream(textRequest())), "stop");
    }),
  ];
  if (toolRequest !== undefined)
    cases.push(
      check("a tool call has an id, the name of a tool and a JSON input", async (model) => {
        const asked = request(toolRequest);
        const chunks = await chunksOf(model.stream(asked));
        assertWellFormed(chunks, "tool_calls");
        const calls = chunks.filter((chunk) => chunk.type === "tool_call");
        assert.ok(calls.length > 0, "at least one call");
        for (const call of calls) {
          assert.ok(call.id.length > 0);
          assert.ok(asked.tools.some(({ name }) => name === call.name));
          assert.deepStrictEqual(JSON.parse(JSON.stringify(call.input)), call.input);
        }
        assert.equal(
          new Set(calls.map(({ id }) => id)).size,
          calls.length,
          "ids differ in a reply",
        );
      }),
    );
  if (overflowRequest !== undefined)
    cases.push(
      check("a request longer than the window fails with ContextOverflowError", async (model) => {
        const stream = () => chunksOf(model.stream(request(overflowRequest)));
        const error = await rejectionOf(stream, "a request over the window must fail");
        assert.ok(ContextOverflowError.is(error), `expected ContextOverflowError, got ${error}`);
      }),
    );
  return cases;
}

function request(fields: Partial<ModelRequest>): ModelRequest {
  return {
    system: "Be brief.",
    messages: [userMessage("Say hello.")],
    tools: [],
    signal: new AbortController().signal,
    ...fields,
  };
}

async function chunksOf(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function assertWellFormed(chunks: readonly ModelChunk[], reason: "stop" | "tool_calls"): void {
  const last = chunks.at(-1);
  assert.equal(chunks.filter(({ type }) => type === "finish").length, 1, "one finish");
  assert.ok(last?.type === "finish", "finish is the last chunk");
  assert.equal(last.reason, reason);
  for (const count of [last.usage.inputTokens, last.usage.outputTokens])
    assert.ok(Number.isSafeInteger(count) && count >= 0, "usage is in whole tokens");
  if (reason === "stop")
    assert.ok(
      chunks.some((chunk) => chunk.type === "text_delta" && chunk.text !== ""),
      "some text",
    );
}
