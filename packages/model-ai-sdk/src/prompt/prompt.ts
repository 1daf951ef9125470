import type { JsonObject, JsonValue } from "@holdfast/core";
import type { PartMetadata } from "../provider-metadata.js";

/** Options of a message or part for the provider's package, by namespace. */
export type ProviderOptions = Readonly<Record<string, JsonObject>>;

/** Bytes or a link, in the form of the generation: bare in V2 and V3, tagged in V4. */
export type FileData =
  | string
  | URL
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "url"; readonly url: URL };

/** Text of the user or the model. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly providerOptions?: PartMetadata;
}

/** Thinking of the model. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly providerOptions?: PartMetadata;
}

/** A file that is shown to the model, or that it made. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: FileData;
  readonly filename?: string;
  readonly providerOptions?: PartMetadata;
}

/** A tool call of the model. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  readonly providerOptions?: PartMetadata;
}

/** One piece of a tool result with files: `media` in V2, `image-data` and the like in V3, `file` in V4. */
export type ResultContent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Output of a tool, in the form for its state. */
export type ResultOutput =
  | { readonly type: "text" | "error-text"; readonly value: string }
  | { readonly type: "execution-denied"; readonly reason: string }
  | { readonly type: "content"; readonly value: readonly ResultContent[] };

/** Result of a {@link ToolCallPart}. */
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ResultOutput;
}

/** A part of a reply. */
export type AssistantPart = TextPart | ReasoningPart | FilePart | ToolCallPart;

/** One message of the prompt. */
export type PromptMessage = { providerOptions?: ProviderOptions } & (
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: (TextPart | FilePart)[] }
  | { readonly role: "assistant"; readonly content: AssistantPart[] }
  | { readonly role: "tool"; readonly content: ToolResultPart[] }
);
