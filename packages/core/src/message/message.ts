import type { JsonObject, JsonValue } from "../json/json.js";

/** Plain text. */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  /** Data the provider wants back with this text. */
  readonly providerMetadata?: JsonObject | undefined;
}

/** Reasoning of a model before its answer; `providerMetadata` carries signatures that must go back unchanged. */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly providerMetadata?: JsonObject | undefined;
}

/** Bytes of a {@link DataBlock}, inline or at a URL. */
export type DataSource =
  | { readonly kind: "base64"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

/** Image, sound or any other file. */
export interface DataBlock {
  readonly type: "data";
  readonly mediaType: string;
  readonly source: DataSource;
  readonly name?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** Request of a model to run a tool. Its state is in `AgentState.openCalls`, never here. */
export interface ToolCallBlock {
  readonly type: "tool_call";
  /** Unique within the session; the provider's own id is in the message's metadata. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly providerMetadata?: JsonObject | undefined;
}

/** Outcome of a tool call. */
export type ToolResultState = "success" | "error" | "interrupted" | "denied";

/** Result of a {@link ToolCallBlock}. */
export interface ToolResultBlock {
  readonly type: "tool_result";
  /** Id of the tool call; the same as {@link ToolCallBlock.id}. */
  readonly toolCallId: string;
  readonly name: string;
  readonly output: readonly (TextBlock | DataBlock)[];
  readonly state: ToolResultState;
  readonly metadata?: JsonObject | undefined;
}

/** Text added by the system: sent to the model as user text, never shown as written by the user. */
export interface HintBlock {
  readonly type: "hint";
  readonly text: string;
  /** Origin of the text, for example `summary`. */
  readonly source: string;
}

/** One piece of a message. */
export type Block =
  | TextBlock
  | ThinkingBlock
  | DataBlock
  | ToolCallBlock
  | ToolResultBlock
  | HintBlock;

/** Author of a message. */
export type Role = "user" | "assistant" | "tool" | "system";

/** Tokens used by a model call. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
}

/**
 * Message of a conversation.
 *
 * Contract:
 * - It is deeply frozen when created or loaded. A message in a context never changes: it is replaced by another one.
 * - `id` is unique within the session.
 */
export interface Message {
  readonly id: string;
  readonly role: Role;
  readonly name?: string | undefined;
  readonly content: readonly Block[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly usage?: Usage | undefined;
  readonly metadata?: JsonObject | undefined;
}
