import type { JsonObject, JsonValue } from "../json/json.js";
import type { DataSource, Message, Usage } from "../message/message.js";

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

/** Why a model stopped; `content_filter`: the provider refused to write, or to go on writing. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "error";

/**
 * A piece of text, or of what the model thinks.
 *
 * Pieces with the same `block` make up one block of the message, wherever they come in the stream; blocks stand in the
 * order they began. Without it, pieces of one kind in a row are one block.
 */
export interface DeltaChunk {
  readonly type: "text_delta" | "thinking_delta";
  /** May be empty, in a piece that only brings metadata. */
  readonly text: string;
  /** Unique among the blocks of this kind in the reply. */
  readonly block?: string | undefined;
  /** Of the whole block; the last one given counts. */
  readonly providerMetadata?: JsonObject | undefined;
}

/** One piece of a streamed reply. */
export type ModelChunk =
  | DeltaChunk
  | {
      /** A file the model made. */
      readonly type: "data";
      readonly mediaType: string;
      readonly source: DataSource;
      readonly name?: string | undefined;
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
