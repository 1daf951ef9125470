import {
  ConfigurationError,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
} from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import {
  type AiSdkConfig,
  type AiSdkOptions,
  aiSdkOptions,
  modelProblem,
} from "./ai-sdk-options.js";
import { callOptions } from "./call-options.js";
import { classifyError } from "./errors/classify-error.js";
import { omitRefused } from "./errors/omit-refused.js";
import { finishChunk } from "./finish-chunk.js";
import type { AiSdkModel } from "./language-model.js";
import { nothingOmitted, type Omissions } from "./prompt/prompt-scope.js";
import { readParts } from "./stream/read-parts.js";
import { ReplyReader } from "./stream/reply-reader.js";

/**
 * Makes a model of an AI SDK provider package the model of an agent.
 *
 * @throws ConfigurationError for anything but a model object of specification v2, v3 or v4, and for invalid options
 * @example
 * const model = fromAiSdk(anthropic("claude-sonnet-5-5"), { contextWindow: 200_000 });
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  const problem = modelProblem(model);
  if (problem !== null) throw new ConfigurationError(problem);
  return new AiSdkLanguageModel(model, parseOptions(aiSdkOptions, options, "fromAiSdk"));
}

class AiSdkLanguageModel implements Model {
  readonly id: string;
  readonly contextWindow: number | undefined;
  readonly structuredOutput: boolean;
  readonly #model: AiSdkModel;
  readonly #config: AiSdkConfig;

  constructor(model: AiSdkModel, config: AiSdkConfig) {
    this.#model = model;
    this.#config = config;
    this.id = config.id ?? ownerOf(model);
    this.contextWindow = config.contextWindow;
    this.structuredOutput = config.structuredOutput;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
    let omit = nothingOmitted;
    for (;;) {
      let began = false;
      try {
        for await (const chunk of this.#attempt(request, omit)) {
          began = true;
          yield chunk;
        }
        return;
      } catch (error) {
        request.signal.throwIfAborted();
        const { overflowPatterns } = this.#config;
        const failure = classifyError(error, { model: this.id, overflowPatterns });
        const isRefusal = ModelError.is(failure) && failure.kind === "invalid_request";
        const owner = ownerOf(this.#model);
        const less = isRefusal && !began ? omitRefused(error, omit, request.messages, owner) : null;
        if (less === null) throw failure;
        omit = less;
      }
    }
  }

  async *#attempt(request: ModelRequest, omit: Omissions): AsyncGenerator<ModelChunk> {
    const model = this.#model;
    const config = this.#config;
    const owner = ownerOf(model);
    const reply = new ReplyReader(owner, model.specificationVersion);
    const open = async (signal: AbortSignal) => {
      const supportedUrls = await model.supportedUrls;
      signal.throwIfAborted();
      const context = { model, config, owner, supportedUrls, omit, signal };
      return model.doStream(callOptions(request, context) as never);
    };
    for await (const part of readParts({ open, signal: request.signal, ...config }))
      yield* reply.read(part);
    yield finishChunk(reply, model, this.id);
  }
}

/** Returns the key under which messages keep the metadata of this model. */
function ownerOf({ provider, modelId }: AiSdkModel): string {
  return `${provider}/${modelId}`;
}
