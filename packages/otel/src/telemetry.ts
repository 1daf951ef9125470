import type { RuntimeContext, Slot, Usage } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import {
  type Attributes,
  type Context,
  INVALID_SPAN_CONTEXT,
  isValidSpanId,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { InstrumentSource, type Instruments } from "./instruments.js";
import type { ModelDescription } from "./model-description.js";
import { attribute, SCOPE } from "./names.js";
import type { OtelSettings, SpanInfo } from "./otel-options.js";
import { quietly } from "./quietly.js";
import type { SpanClock } from "./span-clock.js";

/** The call or background work that a span is part of. */
export interface SpanOwner {
  readonly slot: Slot;
  readonly callId: string;
  readonly ctx?: RuntimeContext | undefined;
  readonly clock: SpanClock;
}

/** Description of a span to start. */
export interface SpanStart extends Pick<SpanInfo, "subject" | "model" | "purpose" | "tool"> {
  readonly name: string;
  readonly parent: Context;
  readonly attributes: Attributes;
  /** @default SpanKind.INTERNAL */
  readonly kind?: SpanKind | undefined;
  /** Epoch milliseconds; for work that is reported only when it is done. @default now */
  readonly startTime?: number | undefined;
  readonly links?: Link[] | undefined;
}

/** One agent's tracer and instruments. */
export class Telemetry {
  readonly settings: OtelSettings;
  readonly agent: { readonly name: string; readonly agentId: string };
  #provider: TracerProvider | undefined;
  #tracer: Tracer | undefined;
  readonly #instruments: InstrumentSource;
  /** Bounded, because an agent has a handful of models but ids may be generated. */
  readonly #models = new BoundedMap<string, ModelDescription>({ maxEntries: 100 });

  constructor(settings: OtelSettings, agent: Telemetry["agent"]) {
    this.settings = settings;
    this.agent = { name: agent.name, agentId: agent.agentId };
    this.#instruments = new InstrumentSource(settings.meterProvider);
  }

  /** Returns the agent of a session: this one, or a subagent that works for it and has sessions of its own. */
  agentOf({ agentId }: Pick<Slot, "agentId">): Telemetry["agent"] {
    const prefix = `${this.agent.agentId}/`;
    if (!agentId.startsWith(prefix)) return this.agent;
    return { name: agentId.slice(prefix.length), agentId };
  }

  get instruments(): Instruments {
    return this.#instruments.get();
  }

  /** True if there is a meter. */
  get isMeasured(): boolean {
    return this.#instruments.isMeasured;
  }

  /** Provider and name of a model. */
  model(id: string): ModelDescription {
    const known = this.#models.get(id);
    if (known) return known;
    const described = this.settings.describeModel(id);
    this.#models.set(id, described);
    return described;
  }

  /** Starts a span; a no-op span if a sampler or processor throws. */
  start(owner: SpanOwner, start: SpanStart): Span {
    const { recordIds } = this.settings;
    const { slot, callId } = owner;
    const attributes: Attributes = {
      [attribute.agentName]: this.agentOf(slot).name,
      ...(recordIds.session && {
        [attribute.conversation]: slot.sessionId,
        [attribute.callId]: callId,
      }),
      ...(recordIds.user && slot.userId !== null && { [attribute.user]: slot.userId }),
      ...start.attributes,
      ...this.#own(owner, start),
    };
    const { name, kind = SpanKind.INTERNAL, links, parent } = start;
    const { startTime = owner.clock.now() } = start;
    const options = { kind, attributes, startTime, ...(links && { links }) };
    return (
      quietly(() => this.#currentTracer().startSpan(name, options, parent)) ??
      trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    );
  }

  /**
   * Looks up the global provider each time: a tracer notices an SDK that is registered later only if both use the same copy
   * of the API.
   */
  #currentTracer(): Tracer {
    const provider = this.settings.tracerProvider ?? trace.getTracerProvider();
    if (this.#tracer === undefined || provider !== this.#provider) {
      this.#tracer = provider.getTracer(SCOPE);
      this.#provider = provider;
    }
    return this.#tracer;
  }

  #own(owner: SpanOwner, { subject, model, purpose, tool }: SpanStart): Attributes | undefined {
    const { attributes } = this.settings;
    if (!attributes) return undefined;
    const { slot, callId, ctx } = owner;
    const agent = this.agentOf(slot);
    return quietly(() => attributes({ subject, agent, slot, callId, ctx, model, purpose, tool }));
  }
}

/**
 * Returns `parent` with `span` active; `parent` itself if there is no tracer, because a no-op span would hide the active
 * one.
 */
export function withSpan(parent: Context, span: Span): Context {
  const { spanId } = span.spanContext();
  return isValidSpanId(spanId) && spanId !== trace.getSpanContext(parent)?.spanId
    ? trace.setSpan(parent, span)
    : parent;
}

/** Ends a span, ignoring what its processors throw. */
export function endSpan(span: Span, at: number): void {
  quietly(() => span.end(at));
}

/** Marks a span as failed, with a code and never a message. */
export function fail(span: Span, type: string): void {
  span.setAttribute(attribute.errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns token counts as span attributes. */
export function usageAttributes(usage: Usage): Attributes {
  return {
    [attribute.inputTokens]: usage.inputTokens,
    [attribute.outputTokens]: usage.outputTokens,
    ...(usage.cachedInputTokens !== undefined && {
      [attribute.cachedTokens]: usage.cachedInputTokens,
    }),
  };
}
