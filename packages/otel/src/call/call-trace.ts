import type { AgentEvent, AgentReply, CallStep, Message, RunStep, Slot } from "@holdfast/core";
import {
  type Attributes,
  type Context,
  context,
  type Span,
  trace,
  type UpDownCounter,
} from "@opentelemetry/api";
import { messagesJson } from "../content/messages-json.js";
import { asErrorType, errorType } from "../error-type.js";
import { countEvent } from "../event-counts.js";
import { attribute, OTHER_ERROR } from "../names.js";
import { quietly } from "../quietly.js";
import { SpanClock } from "../span-clock.js";
import { loadSpan, recordLoad, recordSave, saveSpan } from "../store-spans.js";
import {
  endSpan,
  fail,
  type SpanOwner,
  type Telemetry,
  usageAttributes,
  withSpan,
} from "../telemetry.js";
import { WorkSpans } from "../work-spans.js";
import { currentCall } from "./current-call.js";
import { addMilestone } from "./milestone.js";

/** Trace of one run of a call: its span, and the spans of its parts, made from its events. Ends with `call_end`. */
export class CallTrace {
  readonly telemetry: Telemetry;
  readonly slot: Slot;
  readonly owner: SpanOwner;
  readonly span: Span;
  readonly context: Context;
  readonly work: WorkSpans;
  /** True if there is a tracer. */
  readonly isTraced: boolean;
  /** Kept for the end of the call, because a meter may be registered in between. */
  readonly #activeCalls: UpDownCounter;
  #step: CallStep | undefined;
  #wait: { readonly span: Span; readonly began: number } | undefined;
  #stopKind: string | undefined;
  #failure: string | undefined;
  #hasLostLease = false;
  #ended = false;

  constructor(telemetry: Telemetry, { slot, callId, ctx }: RunStep, model: string | undefined) {
    this.telemetry = telemetry;
    this.slot = slot;
    this.owner = { slot, callId, ctx, clock: new SpanClock() };
    const { agentId, name } = telemetry.agentOf(slot);
    const described = model === undefined ? undefined : telemetry.model(model);
    const parent = context.active();
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
    this.context = withSpan(parent, this.span);
    this.isTraced = this.context !== parent;
    this.work = new WorkSpans(telemetry, this.owner, () => this.inside());
    this.#activeCalls = telemetry.instruments.activeCalls;
    this.#activeCalls.add(1, this.#labels());
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Returns the parent of a span that starts now: the active span within this call, or the call. */
  inside(): Context {
    if (currentCall(this.telemetry) !== this) return this.context;
    const active = context.active();
    return trace.getSpan(active) ? active : this.context;
  }

  /** Records that the call has acquired its session. */
  entered(step: CallStep): void {
    this.#step = step;
    this.#show(attribute.inputMessages, step.input);
  }

  replied(reply: AgentReply): void {
    this.#show(attribute.outputMessages, [reply.message]);
  }

  threw(error: unknown): void {
    this.#failure = errorType(error);
  }

  observe(event: AgentEvent): void {
    if (this.#ended) return;
    switch (event.type) {
      case "queue_wait":
        this.#wait ??= this.#waitBegun(event.ahead);
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
        if (event.kind === "lease_lost") this.#leaseLost();
        break;
      case "error":
        this.#failure ??= asErrorType(event.code);
        if (event.code === "LEASE_LOST") this.#leaseLost();
        break;
      case "call_end":
        this.#end(event);
        return;
    }
    countEvent(this.telemetry, event);
    this.work.observe(event);
    addMilestone(this.span, event, this.owner.clock);
  }

  /** Once per call: it learns of the loss from its heartbeat, or from a save that is refused. */
  #leaseLost(): void {
    if (this.#hasLostLease) return;
    this.#hasLostLease = true;
    this.telemetry.instruments.lostLeases.add(1, this.#labels());
    this.span.addEvent("holdfast.lease_lost", {}, this.#now());
  }

  #show(name: string, messages: readonly Message[]): void {
    const { content, maxContentChars } = this.telemetry.settings;
    if (!content || !this.span.isRecording()) return;
    quietly(() => this.span.setAttribute(name, messagesJson(messages, maxContentChars)));
  }

  #waitBegun(ahead: number): { readonly span: Span; readonly began: number } {
    const began = this.#now();
    const span = this.telemetry.start(this.owner, {
      subject: "queue_wait",
      name: "holdfast.queue_wait",
      parent: this.context,
      startTime: began,
      attributes: { [attribute.queueAhead]: ahead },
    });
    return { span, began };
  }

  #loaded(event: Extract<AgentEvent, { type: "state_loaded" }>): void {
    recordLoad(this.telemetry, event);
    const wait = this.#wait;
    const turnAt = wait && Math.min(wait.began + event.waitedMs, this.#now());
    if (wait) endSpan(wait.span, turnAt ?? this.#now());
    this.#wait = undefined;
    loadSpan(this.telemetry, this.owner, event, this.context, turnAt);
  }

  #end({ reason, usage, durationMs }: Extract<AgentEvent, { type: "call_end" }>): void {
    this.#ended = true;
    // Work that the call left running may hold on to this trace; it must not hold on to the state as well.
    this.#step = undefined;
    const failure = reason === "error" ? (this.#failure ?? OTHER_ERROR) : undefined;
    const cut = this.#stopKind ?? failure ?? OTHER_ERROR;
    this.work.endAll(cut);
    if (this.#wait) {
      fail(this.#wait.span, cut);
      this.telemetry.instruments.queueWait.record((this.#now() - this.#wait.began) / 1_000, {
        ...this.#labels(),
        [attribute.errorType]: cut,
      });
      endSpan(this.#wait.span, this.#now());
    }
    this.span.setAttributes({ [attribute.reason]: reason, ...usageAttributes(usage) });
    if (failure !== undefined) fail(this.span, failure);
    this.telemetry.instruments.callDuration.record(durationMs / 1_000, {
      ...this.#labels(),
      [attribute.reason]: reason,
      ...(failure !== undefined && { [attribute.errorType]: failure }),
    });
    this.#activeCalls.add(-1, this.#labels());
    endSpan(this.span, this.#now());
  }

  #now(): number {
    return this.owner.clock.now();
  }

  #labels(): Attributes {
    return { [attribute.agentName]: this.telemetry.agentOf(this.slot).name };
  }
}
