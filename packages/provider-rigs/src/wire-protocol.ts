import type { WireFailure, WireReply } from "./wire-reply.js";

/** A request as a server received it. */
export interface WireRequest {
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the provider's format has.
  readonly body: any;
}

/** One server-sent event. */
export interface WireEvent {
  /** The `event:` line, where the provider has one. */
  readonly name?: string | undefined;
  /** Sent as JSON; a string as it is. */
  readonly data: unknown;
  /** Part of the opening of an answer, or a piece of its content. @default neither */
  readonly kind?: "opening" | "delta" | undefined;
}

/** A whole answer: in events for a streaming request, as one body for another. */
export interface WireAnswer {
  readonly events: readonly WireEvent[];
  readonly body: unknown;
  /** Called when the client was sent all of it. */
  readonly delivered?: (() => void) | undefined;
}

/** The wire format of one provider's API; {@link wireServer} does the rest. */
export interface WireProtocol {
  /** First part of every path, such as "/v1". */
  readonly basePath: string;
  /** Between two lines of an event stream. @default "\n" */
  readonly newline?: string | undefined;
  /** True for a path that the API has. */
  serves(path: string): boolean;
  /** True for a request that asks for an event stream. */
  streams(request: WireRequest): boolean;
  /** Returns the provider's answer to a malformed request; nothing for one in order. */
  refusal(request: WireRequest): WireFailure | undefined;
  /** Returns the provider's answer to a request longer than the model's window. */
  overflow(tokens: number, windowTokens: number, streams: boolean): WireFailure;
  /** Returns a 400 in the provider's shape. */
  invalid(message: string): WireFailure;
  /** Returns the error event of a stream. */
  errorEvent(body: unknown): WireEvent;
  answer(reply: WireReply, request: WireRequest, requestChars: number): WireAnswer;
}
