import type { AgentEvent, AgentReply, CallStep, RunStep, Slot } from "@holdfast/core";
import {
  type Attributes,
  type Context,
  context,
  isValidSpanId,
  type Span,
  trace,
} from "@opentelemetry/api";
import { messagesJson } from "../content/messages-json.js";
import { asErrorType, errorType } from "../error-type.js";
import { attribute, OTHER_ERROR } from "../names.js";
import { SpanClock } from "../span-clock.js";
import { loadSpan, recordLoad, recordSave, saveSpan } from "../store-spans.js";
import { fail, type SpanOwner, type Telemetry, usageAttributes } from "../telemetry.js";
import { WorkSpans } from "../work-spans.js";
import { currentCall } from "./current-call.js";
import { milestone } from "./milestone.js";

/** One run of a call: its span, and those of its parts by its events. Ends with its `call_end`. */
export class CallTrace {
  readonly telemetry: Telemetry;
  readonly slot: Slot;
  readonly owner: SpanOwner;
  readonly span: Span;
  readonly context: Context;
  readonly work: WorkSpans;
  readonly #callerId: string | undefined;
  #step: CallStep | undefined;
  #wait: { readonly span: Span; readonly began: number } | undefined;
  #stopKind: string | undefined;
  #failure: string | undefined;
  #ended = false;

  constructor(telemetry: Telemetry, { slot, callId, ctx }: RunStep, model: string | undefined) {
    this.telemetry = telemetry;
    this.slot = slot;
    this.owner = { slot, callId, ctx, clock: new SpanClock() };
    const { agentId, name } = telemetry.agent;
    const described = model === undefined ? undefined : telemetry.model(model);
    const parent = context.active();
    this.#callerId = trace.getSpanContext(parent)?.spanId;
    this.span = telemetry.start(this.owner, {
      subject: "call",
      name: `invoke_agent ${name}`,
      parent,
      attributes: {
        [attribute.operation]: "invoke_agent",
        [attribute.agentId]: agentId,
        ...(described && {
          [attribute.provider]: described.provider,
          [attribute.requestModel]: described.name,
        }),
      },
    });
    this.context = trace.setSpan(parent, this.span);
    this.work = new WorkSpans(telemetry, this.owner, () => this.inside());
    telemetry.instruments.activeCalls.add(1, this.#labels());
  }

  /** Whether there is a tracer: without one there is nothing to activate, and nobody to ask which call is current. */
  get isTraced(): boolean {
    const { spanId } = this.span.spanContext();
    return isValidSpanId(spanId) && spanId !== this.#callerId;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** What a span that begins now belongs under: whatever is active within this call, or the call. */
  inside(): Context {
    if (currentCall(this.telemetry) !== this) return this.context;
    const active = context.active();
    return trace.getSpan(active) ? active : this.context;
  }

  /** The call has its turn. */
  entered(step: CallStep): void {
    this.#step = step;
    const { content, maxContentChars } = this.telemetry.settings;
    if (content && this.span.isRecording())
      this.span.setAttribute(attribute.inputMessages, messagesJson(step.input, maxContentChars));
  }

  replied(reply: AgentReply): void {
    const { content, maxContentChars } = this.telemetry.settings;
    if (content && this.span.isRecording())
      this.span.setAttribute(
        attribute.outputMessages,
        messagesJson([reply.message], maxContentChars),
      );
  }

  threw(error: unknown): void {
    this.#failure = errorType(error);
  }

  observe(event: AgentEvent): void {
    if (this.#ended) return;
    switch (event.type) {
      case "queue_wait":
        this.#wait ??= { span: this.#waitSpan(event.ahead), began: this.#now() };
        break;
      case "state_loaded":
        this.#loaded(event);
        break;
      case "state_saved":
        recordSave(this.telemetry, event);
        saveSpan(this.telemetry, this.owner, event, this.context, this.#step?.state.context.length);
        break;
      case "interrupted":
        this.#stopKind = event.kind;
        this.span.setAttribute(attribute.interruptKind, event.kind);
        this.telemetry.instruments.interrupts.add(1, {
          ...this.#labels(),
          [attribute.interruptKind]: event.kind,
        });
        break;
      case "tool_result_evicted":
        this.telemetry.instruments.evictions.add(1, {
          ...this.#labels(),
          [attribute.toolName]: event.name,
        });
        break;
      case "error":
        this.#failure ??= asErrorType(event.code);
        break;
      case "call_end":
        this.#end(event);
        return;
    }
    this.work.observe(event);
    milestone(this.span, event, this.owner.clock);
  }

  #waitSpan(ahead: number): Span {
    return this.telemetry.start(this.owner, {
      subject: "queue_wait",
      name: "holdfast.queue_wait",
      parent: this.context,
      attributes: { [attribute.queueAhead]: ahead },
    });
  }

  #loaded(event: Extract<AgentEvent, { type: "state_loaded" }>): void {
    recordLoad(this.telemetry, event);
    const wait = this.#wait;
    const turnAt = wait && Math.min(wait.began + event.waitedMs, this.#now());
    wait?.span.end(turnAt);
    this.#wait = undefined;
    loadSpan(this.telemetry, this.owner, event, this.context, turnAt);
  }

  #end({ reason, usage, durationMs }: Extract<AgentEvent, { type: "call_end" }>): void {
    this.#ended = true;
    const failure = reason === "error" ? (this.#failure ?? OTHER_ERROR) : undefined;
    const cut = this.#stopKind ?? failure ?? OTHER_ERROR;
    this.work.endAll(cut);
    if (this.#wait) {
      fail(this.#wait.span, cut);
      this.#wait.span.end(this.#now());
    }
    this.span.setAttributes({ [attribute.reason]: reason, ...usageAttributes(usage) });
    if (failure !== undefined) fail(this.span, failure);
    const { callDuration, activeCalls } = this.telemetry.instruments;
    callDuration.record(durationMs / 1_000, {
      ...this.#labels(),
      [attribute.reason]: reason,
      ...(failure !== undefined && { [attribute.errorType]: failure }),
    });
    activeCalls.add(-1, this.#labels());
    this.span.end(this.#now());
  }

  #now(): number {
    return this.owner.clock.now();
  }

  #labels(): Attributes {
    return { [attribute.agentName]: this.telemetry.agent.name };
  }
}
