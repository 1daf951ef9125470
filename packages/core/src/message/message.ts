import type { JsonObject, JsonValue } from "../json/json.js";

/** Plain text. */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  /** What the provider wants to see again with this text. */
  readonly providerMetadata?: JsonObject | undefined;
}

/** What a model thought before it answered; `providerMetadata` carries signatures that must go back unchanged. */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly providerMetadata?: JsonObject | undefined;
}

/** Where the bytes of a {@link DataBlock} are. */
export type DataSource =
  | { readonly kind: "base64"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

/** An image, a sound or any other file. */
export interface DataBlock {
  readonly type: "data";
  readonly mediaType: string;
  readonly source: DataSource;
  readonly name?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

/** A model's wish to run a tool. Its state lives in `AgentState.openCalls`, never here. */
export interface ToolCallBlock {
  readonly type: "tool_call";
  /** Unique within the session; the provider's own id is in the message's metadata. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly providerMetadata?: JsonObject | undefined;
}

/** How a tool call ended. */
export type ToolResultState = "success" | "error" | "interrupted" | "denied";

/** What came of a {@link ToolCallBlock}. */
export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly toolCallId: string;
  readonly name: string;
  readonly output: readonly (TextBlock | DataBlock)[];
  readonly state: ToolResultState;
  readonly metadata?: JsonObject | undefined;
}

/** Text the system adds: sent to the model as user text, never shown as the user's words. */
export interface HintBlock {
  readonly type: "hint";
  readonly text: string;
  /** Who added it, for example `summary`. */
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

/** Who speaks. */
export type Role = "user" | "assistant" | "tool" | "system";

/** Tokens a model call took. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
}

/**
 * One message of a conversation.
 *
 * Contract:
 * - Frozen when created or loaded, all the way down. A message never changes after it entered a context: it is
 *   replaced by another one.
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
