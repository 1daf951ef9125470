import type { JsonObject, JsonValue } from "../json/json.js";
import type { DataSource, Message, Usage } from "../message/message.js";

/** Tool as the model sees it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JsonObject;
}

/** Tool that a model may or must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/** Request to a model. */
export interface ModelRequest {
  readonly system: string;
  /** Messages in which every tool call is followed by exactly one result. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice | undefined;
  /** JSON Schema of the reply's text; only sent to models with {@link Model.structuredOutput}. */
  readonly output?: JsonObject | undefined;
  readonly signal: AbortSignal;
}

/** Reason why a model stopped; with `content_filter` the provider refused to start or to go on. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "error";

/**
 * Piece of a text or thinking block.
 *
 * Pieces with the same `block` form one block of the message, wherever they appear in the stream; blocks are ordered by
 * their first piece. Without it, consecutive pieces of one kind form one block.
 */
export interface DeltaChunk {
  readonly type: "text_delta" | "thinking_delta";
  /** Text; may be empty in a piece that only carries metadata. */
  readonly text: string;
  /** Unique among the blocks of this kind in the reply. */
  readonly block?: string | undefined;
  /** Metadata of the whole block; the last one given counts. */
  readonly providerMetadata?: JsonObject | undefined;
}

/** One piece of a streamed reply. */
export type ModelChunk =
  | DeltaChunk
  | {
      /** File the model made. */
      readonly type: "data";
      readonly mediaType: string;
      readonly source: DataSource;
      readonly name?: string | undefined;
      readonly providerMetadata?: JsonObject | undefined;
    }
  | {
      /** Optional: part of the arguments while they are being written. A `tool_call` chunk follows. */
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
 * - The last chunk is `finish`. A chunk of another type, or without a field of its type, fails the call.
 * - A request longer than the window fails with `ContextOverflowError`, any other failure is a `ModelError` whose
 *   `retryable` says whether trying again makes sense.
 * - It stops soon after `signal` aborts.
 */
export interface Model {
  readonly id: string;
  /** Tokens of the context window, if known. */
  readonly contextWindow?: number | undefined;
  /** Honours `ModelRequest.output`. @default false */
  readonly structuredOutput?: boolean | undefined;
  stream(request: ModelRequest): AsyncIterable<ModelChunk>;
}
