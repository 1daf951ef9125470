import { assistantMessage, type ModelRequest, type TokenCounter } from "@holdfast/core";
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { bookkeeperScript } from "./bookkeeper-script.js";
import { isSummaryRequest } from "./summary-script.js";

/** A request as the provider saw it. */
export interface ServedRequest {
  readonly purpose: "step" | "summary";
  readonly messages: number;
  readonly tokens: number;
  readonly refused: boolean;
}

/** The window the model says it has. */
export const windowTokens = 16_000;

/** Serves the scripted model as a provider would: counts tokens, and refuses what is longer than the window. */
export class Provider {
  /** The window it really has; a provider may change it without a word. */
  windowTokens: number = windowTokens;
  readonly served: ServedRequest[] = [];
  readonly model: ScriptedModel;
  readonly #counter: TokenCounter;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
    this.model = scriptedModel((request) => this.#reply(request), { contextWindow: windowTokens });
  }

  #reply(request: ModelRequest): ScriptedReply {
    const { messages } = request;
    const inputTokens = this.promptTokens(request) + this.#counter.countMessages(messages);
    const refused = inputTokens > this.windowTokens;
    const purpose = isSummaryRequest(messages) ? "summary" : "step";
    this.served.push({ purpose, messages: messages.length, tokens: inputTokens, refused });
    if (refused) return { error: tooLong(this.windowTokens, inputTokens) };
    const reply = bookkeeperScript(request);
    return { ...reply, usage: { inputTokens, outputTokens: this.#tokensOf(reply) } };
  }

  /** A reply counts what it will cost as a message of the next request. */
  #tokensOf({ text, toolCalls = [] }: Exclude<ScriptedReply, string>): number {
    const calls = toolCalls.map(
      ({ name, input }) => ({ type: "tool_call", id: name, name, input }) as const,
    );
    const said = text === undefined ? [] : [{ type: "text", text } as const];
    return this.#counter.countMessages([assistantMessage([...said, ...calls])]);
  }

  /** Returns the tokens of a request before its first message. */
  promptTokens({ system, tools }: Pick<ModelRequest, "system" | "tools">): number {
    return this.#counter.countText(system) + this.#counter.countTools(tools);
  }
}

/** The refusal as OpenAI words it. */
function tooLong(limit: number, tokens: number): Error {
  const message = `400 This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  return Object.assign(new Error(message), {
    status: 400,
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  });
}
