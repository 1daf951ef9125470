import type { JsonValue } from "@holdfast/core";

/** A tool call in a {@link WireReply}. */
export interface WireToolCall {
  readonly name: string;
  readonly input: JsonValue;
  /** @default a fresh id in the provider's own form */
  readonly id?: string | undefined;
}

/** Reasoning in a {@link WireReply}; what a provider has no place for is left out. */
export interface WireThinking {
  /** The part that is shown; empty for reasoning that is only encrypted. */
  readonly text: string;
  /** Anthropic's signature, Google's thought signature. @default one the server can recognise anywhere */
  readonly signature?: string | undefined;
  /** Anthropic: the data of a `redacted_thinking` block, after the shown one. */
  readonly redacted?: string | undefined;
  /** OpenAI's encrypted content. @default one the server can recognise anywhere */
  readonly encrypted?: string | undefined;
}

/** A file the model made: Google's inline data, OpenAI's generated image. */
export interface WireFile {
  readonly mediaType: string;
  readonly base64: string;
}

/** Tokens a {@link WireReply} reports; all of them, cached and reasoning ones included in the totals. */
export interface WireUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** A {@link WireUsage} with nothing left out. */
export type FullUsage = Readonly<Record<keyof WireUsage, number>>;

/** Reason why an answer ended; each server uses its provider's word for it. */
export type WireFinish =
  | "stop"
  | "tool_calls"
  | "length"
  | "content_filter"
  | "refusal"
  | "context_window";

/** An error response: status, body and headers as the provider sends them. */
export interface WireFailure {
  /** A failure of status 200 is sent as the only event of the stream. */
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A failure in mid-answer:
 * - `cut`: the connection breaks;
 * - `stall`: nothing more is sent, and the connection stays open;
 * - `error_event`: the provider's error event, then the end.
 */
export interface WireFault {
  /** Pieces of text, thinking and tool input that still arrive; 0 is right after the answer opened. */
  readonly afterDeltas: number;
  readonly kind: "cut" | "stall" | "error_event";
  /** Body of the error event. @default the provider's error for being overloaded */
  readonly body?: unknown;
}

/** One answer of a server. Thinking comes first, then files, text and tool calls. */
export interface WireReply {
  /** A list is sent as that many deltas. */
  readonly text?: string | readonly string[] | undefined;
  readonly thinking?: WireThinking | undefined;
  readonly toolCalls?: readonly WireToolCall[] | undefined;
  readonly files?: readonly WireFile[] | undefined;
  /** @default a quarter of the characters that went in and out */
  readonly usage?: WireUsage | undefined;
  /** @default "tool_calls" when there are any, else "stop" */
  readonly finish?: WireFinish | undefined;
  /** Sent instead of an answer. */
  readonly error?: WireFailure | undefined;
  readonly fault?: WireFault | undefined;
  /** Wait before the first byte. @default 0 */
  readonly delayMs?: number | undefined;
}

/** The deltas of a reply's text. */
export function textDeltas(reply: WireReply): readonly string[] {
  const { text = [] } = reply;
  return typeof text === "string" ? [text] : text;
}

/** Returns why the reply ends: as it says, or by default. */
export function finishOf(reply: WireReply): WireFinish {
  return reply.finish ?? ((reply.toolCalls?.length ?? 0) > 0 ? "tool_calls" : "stop");
}

/** The usage a reply reports for a request of so many characters. */
export function usageOf(reply: WireReply, requestChars: number): FullUsage {
  const calls = reply.toolCalls ?? [];
  const sent =
    textDeltas(reply).join("").length +
    (reply.thinking?.text.length ?? 0) +
    calls.reduce((sum, { name, input }) => sum + name.length + JSON.stringify(input).length, 0);
  const usage = reply.usage ?? { input: tokensIn(requestChars), output: tokensIn(sent) };
  return { ...usage, cachedInput: usage.cachedInput ?? 0, reasoning: usage.reasoning ?? 0 };
}

/** About four characters are a token. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / 4);
}
