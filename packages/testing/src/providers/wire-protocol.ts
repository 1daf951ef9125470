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

/** How one provider's API speaks; {@link wireServer} does the rest. */
export interface WireProtocol {
  /** First part of every path, such as "/v1". */
  readonly basePath: string;
  /** Between two lines of an event stream. @default "\n" */
  readonly newline?: string | undefined;
  /** Whether the API has this path. */
  serves(path: string): boolean;
  /** Whether the answer is to be an event stream. */
  streams(request: WireRequest): boolean;
  /** What the provider answers to a request that is not well-formed. */
  refusal(request: WireRequest): WireFailure | undefined;
  /** What the provider answers to a request that does not fit into the model's window. */
  overflow(tokens: number, windowTokens: number, streams: boolean): WireFailure;
  /** A 400 in the provider's shape. */
  invalid(message: string): WireFailure;
  /** The error event of a stream. */
  errorEvent(body: unknown): WireEvent;
  answer(reply: WireReply, request: WireRequest, requestChars: number): WireAnswer;
}
