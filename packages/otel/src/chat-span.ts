import type { AgentEvent, ModelCallStep, ModelChunk } from "@holdfast/core";
import { type Attributes, type Context, type Span, SpanKind } from "@opentelemetry/api";
import { OutputDraft } from "./content/output-draft.js";
import { requestContent } from "./content/request-content.js";
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

/** One request to a model: from its start event to its end event, with what its stream shows in between. */
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

  /** Whose request is sent; looked at in the end, for inner hooks may replace it. */
  sends(step: ModelCallStep): void {
    this.#step = step;
  }

  /** Something of the reply is there. */
  answers(): void {
    this.#firstChunkMs ??= performance.now() - this.#began;
  }

  received(chunk: ModelChunk): void {
    if (chunk.type === "finish") this.#finishReason = chunk.reason;
    this.#draft?.add(chunk);
  }

  /** The stream failed; more is known of it here than in the event. */
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

  /** Its end event never came: the call was stopped. */
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

  /** The engine makes an error of it, which no stream threw. */
  #isFiltered(): boolean {
    return this.#finishReason === "content_filter";
  }

  #showRequest(): void {
    if (!this.#step) return;
    const { request, state } = this.#step;
    const { content, maxContentChars } = this.#telemetry.settings;
    if (request.output) this.#span.setAttribute(attribute.outputType, "json");
    if (state.summary !== null) this.#span.setAttribute(attribute.compacted, true);
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
    return { ...this.#names(), [attribute.agentName]: this.#telemetry.agent.name };
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
