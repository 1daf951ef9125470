import type { AgentEvent, ModelCallStep, ModelChunk } from "@holdfast/core";
import { type Attributes, type Context, context, type Span, SpanKind } from "@opentelemetry/api";
import { requestContent } from "./content/messages-json.js";
import { OutputDraft } from "./content/output-draft.js";
import { asErrorType, errorType } from "./error-type.js";
import type { ModelDescription } from "./model-description.js";
import { attribute } from "./names.js";
import { quietly } from "./quietly.js";
import {
  endSpan,
  fail,
  type SpanOwner,
  type Telemetry,
  usageAttributes,
  withSpan,
} from "./telemetry.js";

type ModelStart = Extract<AgentEvent, { type: "model_call_start" }>;
type ModelEnd = Extract<AgentEvent, { type: "model_call_end" }>;

/** Span of one request to a model, from its start event to its end event, with details from its stream. */
export class ChatSpan {
  readonly context: Context;
  readonly #telemetry: Telemetry;
  readonly #owner: SpanOwner;
  readonly #span: Span;
  readonly #model: ModelDescription;
  readonly #purpose: string;
  readonly #began = performance.now();
  readonly #draft: OutputDraft | undefined;
  #step: ModelCallStep | undefined;
  #firstChunkMs: number | undefined;
  #finishReason: string | undefined;
  #thrown: string | undefined;

  constructor(telemetry: Telemetry, owner: SpanOwner, event: ModelStart, parent: Context) {
    this.#telemetry = telemetry;
    this.#owner = owner;
    this.#purpose = event.purpose;
    this.#model = telemetry.model(event.model);
    this.#span = telemetry.start(owner, {
      subject: "model_call",
      name: `chat ${this.#model.name}`,
      kind: SpanKind.CLIENT,
      parent,
      model: event.model,
      purpose: event.purpose,
      attributes: {
        ...this.#names(),
        [attribute.requestStream]: true,
        [attribute.attempt]: event.attempt,
        [attribute.messages]: event.messages,
      },
    });
    this.context = withSpan(parent, this.#span);
    const { content, maxContentChars } = telemetry.settings;
    if (content && this.#span.isRecording()) this.#draft = new OutputDraft(maxContentChars);
  }

  /** Sets the step whose request is sent; read at the end, because inner hooks may replace the request. */
  sends(step: ModelCallStep): void {
    this.#step = step;
  }

  /** Records that the reply has begun. */
  answers(): void {
    this.#firstChunkMs ??= performance.now() - this.#began;
  }

  received(chunk: ModelChunk): void {
    if (chunk.type === "finish") this.#finishReason = chunk.reason;
    this.#draft?.add(chunk);
  }

  /** Records why the stream failed, which tells more than the end event. */
  threw(error: unknown): void {
    this.#thrown = errorType(error);
  }

  end({ usage, durationMs, error }: ModelEnd): void {
    const failure =
      error === undefined
        ? undefined
        : error === "stopped"
          ? error
          : (this.#thrown ?? (this.#isFiltered() ? "content" : asErrorType(error)));
    if (usage.inputTokens > 0 || usage.outputTokens > 0) {
      this.#span.setAttributes(usageAttributes(usage));
      this.#recordTokens("input", usage.inputTokens);
      this.#recordTokens("output", usage.outputTokens);
    }
    this.#close(failure, durationMs);
  }

  /** Ends the span of a request that was stopped before its end event. */
  cut(type: string): void {
    this.#close(type, performance.now() - this.#began);
  }

  #close(failure: string | undefined, durationMs: number): void {
    const { instruments } = this.#telemetry;
    const labels = this.#labels();
    const reason = this.#finishReason ?? (failure === undefined ? undefined : "error");
    quietly(() => this.#showRequest());
    quietly(() => this.#showReply(reason));
    if (reason !== undefined) this.#span.setAttribute(attribute.finishReasons, [reason]);
    if (this.#firstChunkMs !== undefined) {
      this.#span.setAttribute(attribute.timeToFirstChunk, this.#firstChunkMs / 1_000);
      instruments.timeToFirstChunk.record(this.#firstChunkMs / 1_000, labels);
    }
    if (failure !== undefined) fail(this.#span, failure);
    instruments.modelDuration.record(durationMs / 1_000, {
      ...labels,
      ...(failure !== undefined && { [attribute.errorType]: failure }),
    });
    endSpan(this.#span, this.#owner.clock.now());
  }

  /** The engine turns a filtered reply into an error that no stream threw. */
  #isFiltered(): boolean {
    return this.#finishReason === "content_filter";
  }

  #showRequest(): void {
    if (!this.#step) return;
    const { request, state } = this.#step;
    const { content, maxContentChars } = this.#telemetry.settings;
    if (request.output) this.#span.setAttribute(attribute.outputType, "json");
    if (state !== null && state.summary !== null)
      this.#span.setAttribute(attribute.compacted, true);
    if (content && this.#span.isRecording())
      this.#span.setAttributes(requestContent(request, maxContentChars));
  }

  #showReply(reason: string | undefined): void {
    if (this.#draft && !this.#draft.isEmpty())
      this.#span.setAttribute(attribute.outputMessages, this.#draft.toJson(reason));
  }

  #recordTokens(type: "input" | "output", count: number): void {
    const labels = { ...this.#labels(), [attribute.tokenType]: type };
    this.#telemetry.instruments.tokens.record(count, labels);
  }

  #labels(): Attributes {
    return {
      ...this.#names(),
      [attribute.agentName]: this.#telemetry.agentOf(this.#owner.slot).name,
    };
  }

  #names(): Attributes {
    return {
      [attribute.operation]: "chat",
      [attribute.provider]: this.#model.provider,
      [attribute.requestModel]: this.#model.name,
      [attribute.purpose]: this.#purpose,
    };
  }
}

/** Passes the chunks of a model call through: its span is active while they are fetched, and records them. */
export function traceStream(
  chat: ChatSpan,
  step: ModelCallStep,
  next: () => AsyncIterable<ModelChunk>,
): AsyncIterable<ModelChunk> {
  chat.sends(step);
  const active = <T>(work: () => T): T => context.with(chat.context, work);
  const failed = (error: unknown): never => {
    chat.threw(error);
    throw error;
  };
  const received = (result: IteratorResult<ModelChunk>): IteratorResult<ModelChunk> => {
    if (!result.done) chat.received(result.value);
    return result;
  };
  return {
    [Symbol.asyncIterator]: () => {
      let iterator: AsyncIterator<ModelChunk>;
      try {
        iterator = active(() => next()[Symbol.asyncIterator]());
      } catch (error) {
        return failed(error);
      }
      return {
        // Not an async function, because a reply has thousands of chunks. A model's iterator may return without a promise.
        next: () => active(() => Promise.resolve(iterator.next())).then(received, failed),
        return: async () =>
          (await active(() => iterator.return?.())) ?? { done: true, value: undefined },
      };
    },
  };
}
