import {
  assistantMessage,
  ContextOverflowError,
  characterEstimate,
  type Model,
  type ModelChunk,
  type ModelRequest,
  type TokenCounter,
} from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { Reply } from "./answer.js";
import { paced } from "./paced.js";
import { replyTo } from "./reply-to.js";

/** Options of {@link offlineModel}. */
export interface OfflineModelOptions {
  /** Tokens of the longest request it accepts. @default 128_000 */
  readonly contextWindow?: number | undefined;
  /** Pause before each piece of a reply, to make streaming visible. @default 0 */
  readonly paceMs?: number | undefined;
}

const optionsSchema = s.strictObject({
  contextWindow: s.int().min(1).default(128_000),
  paceMs: s.number().min(0).max(10_000).default(0),
});

/** Id of the offline model, in events and at the start of a chat. */
export const offlineModelId = "offline-script";

/**
 * Creates a model that is a script: it runs without a network or a key, understands a few phrases and really uses the
 * tools it is offered. It decides by the request alone, so the same request gets the same reply, and it says that it is
 * a script.
 *
 * @throws ConfigurationError
 * @example
 * const agent = HarnessAgent.builder().name("assistant").model(offlineModel()).build();
 */
export function offlineModel(options: OfflineModelOptions = {}): Model {
  const { contextWindow, paceMs } = parseOptions(optionsSchema, options, "offlineModel");
  const counter = characterEstimate();
  const model: Model = {
    id: offlineModelId,
    contextWindow,
    structuredOutput: false,
    stream: (request) => streamReply(request, contextWindow, counter),
  };
  return paceMs === 0 ? model : paced(model, () => paceMs);
}

async function* streamReply(
  request: ModelRequest,
  contextWindow: number,
  counter: TokenCounter,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { system, messages, tools, signal } = request;
  signal.throwIfAborted();
  const inputTokens =
    counter.countText(system) + counter.countTools(tools) + counter.countMessages(messages);
  if (inputTokens > contextWindow)
    throw new ContextOverflowError(
      `a request of ${inputTokens} tokens is longer than the window of ${contextWindow} tokens of ${offlineModelId}`,
      { limitTokens: contextWindow },
    );
  const reply = replyTo(request);
  for (const chunk of chunksOf(reply, messages.length)) {
    yield chunk;
    // Yields to the event loop, so that the reader can abort between pieces.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  }
  yield {
    type: "finish",
    reason: reply.toolCalls === undefined ? "stop" : "tool_calls",
    usage: { inputTokens, outputTokens: outputTokens(reply, counter) },
  };
}

function* chunksOf({ text = "", toolCalls = [] }: Reply, seed: number): Generator<ModelChunk> {
  for (const piece of pieces(text)) yield { type: "text_delta", text: piece };
  for (const [index, { name, input }] of toolCalls.entries())
    yield { type: "tool_call", id: `offline_${seed}_${index}`, name, input };
}

/** Counts a reply as it will be counted as a message of the next request. */
function outputTokens({ text, toolCalls = [] }: Reply, counter: TokenCounter): number {
  const said = text === undefined ? [] : [{ type: "text", text } as const];
  const calls = toolCalls.map(({ name, input }) => {
    return { type: "tool_call", id: name, name, input } as const;
  });
  return counter.countMessages([assistantMessage([...said, ...calls])]);
}

/** Minimum length of a streamed piece; it extends to the next space. */
const PIECE_CHARS = 16;

/** Splits a text into small pieces at spaces. */
export function* pieces(text: string): Generator<string> {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  let piece = "";
  for (const word of words) {
    piece += word;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
