import { ContextOverflowError } from "@langchain/core/errors";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { fromLangchain, type OpenAiTool } from "./langchain-messages.js";
import type { ReplayProvider } from "./replay-provider.js";

interface CallOptions extends BaseChatModelCallOptions {
  readonly tools?: readonly OpenAiTool[] | undefined;
}

/**
 * The scripted provider as LangChain's agents see it.
 *
 * A request with tools is the agent's; one without is its summariser's.
 */
export class LangchainReplayModel extends BaseChatModel<CallOptions> {
  readonly #provider: ReplayProvider;
  #calls = 0;

  constructor(provider: ReplayProvider) {
    super({});
    this.#provider = provider;
  }

  /** Profile from which fractions of the window are taken. */
  override get profile(): ModelProfile {
    return { maxInputTokens: this.#provider.window };
  }

  _llmType(): string {
    return "replay";
  }

  override bindTools(
    tools: BindToolsInput[],
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    return this.withConfig({
      tools: tools.map(
        (tool) => convertToOpenAITool(tool as StructuredToolInterface) as OpenAiTool,
      ),
    });
  }

  async _generate(messages: BaseMessage[], { tools = [] }: CallOptions): Promise<ChatResult> {
    const completion = this.#complete(messages, tools);
    const { inputTokens, outputTokens } = completion.usage;
    const message = new AIMessage({
      content: completion.text,
      tool_calls: completion.calls.map(({ name, input }) => ({
        type: "tool_call" as const,
        id: `call_${this.#calls++}`,
        name,
        args: input as Record<string, unknown>,
      })),
    });
    const usage_metadata: UsageMetadata = {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
    Object.assign(message, { usage_metadata });
    return { generations: [{ text: completion.text, message }] };
  }

  #complete(messages: readonly BaseMessage[], tools: readonly OpenAiTool[]) {
    try {
      return this.#provider.complete({
        purpose: tools.length > 0 ? "reasoning" : "summary",
        tools: tools.map(({ function: { name, description = "", parameters } }) => ({
          name,
          description,
          inputSchema: parameters,
        })),
        ...fromLangchain(messages),
      });
    } catch (error) {
      // As LangChain's own OpenAI client does.
      if (error instanceof Error && "code" in error && error.code === "context_length_exceeded")
        throw ContextOverflowError.fromError(error);
      throw error;
    }
  }
}
