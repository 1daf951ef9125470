import type { JsonObject, JsonValue } from "../json/json.js";
import type { Message, Usage } from "../message/message.js";

/** A tool as the model sees it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JsonObject;
}

/** Which tool a model should choose. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/** What a model is asked. */
export interface ModelRequest {
  readonly system: string;
  /** Validly paired: every tool call has exactly one result behind it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice | undefined;
  /** JSON Schema the reply's text must satisfy; only sent to models with {@link Model.structuredOutput}. */
  readonly output?: JsonObject | undefined;
  readonly signal: AbortSignal;
}

/** Why a model stopped. */
export type FinishReason = "stop" | "tool_calls" | "length" | "error";

/** One piece of a streamed reply. */
export type ModelChunk =
  | { readonly type: "text_delta"; readonly text: string }
  | {
      readonly type: "thinking_delta";
      readonly text: string;
      readonly providerMetadata?: JsonObject | undefined;
    }
  | {
      /** Optional: the arguments as they are being written. A `tool_call` chunk follows. */
      readonly type: "tool_call_delta";
      readonly id: string;
      readonly name: string;
      readonly inputDelta: string;
    }
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: JsonValue;
      readonly providerMetadata?: JsonObject | undefined;
    }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly usage: Usage };

/**
 * Streams a reply.
 *
 * Contract:
 * - The last chunk is `finish`.
 * - A request longer than the window fails with `ContextOverflowError`; other failures with `ModelError`, whose
 *   `retryable` says whether trying again makes sense.
 * - It stops soon after `signal` aborts.
 */
export interface Model {
  readonly id: string;
  readonly contextWindow?: number | undefined;
  /** Whether `ModelRequest.output` is honoured. @default false */
  readonly structuredOutput?: boolean | undefined;
  stream(request: ModelRequest): AsyncIterable<ModelChunk>;
}
