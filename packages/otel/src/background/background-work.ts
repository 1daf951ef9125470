import type { AgentEvent, Usage } from "@holdfast/core";
import { type Link, ROOT_CONTEXT, type Span } from "@opentelemetry/api";
import { asErrorType } from "../error-type.js";
import { attribute } from "../names.js";
import { SpanClock } from "../span-clock.js";
import {
  endSpan,
  fail,
  type SpanOwner,
  type Telemetry,
  usageAttributes,
  withSpan,
} from "../telemetry.js";
import { WorkSpans } from "../work-spans.js";

/** Trace of a memory flush or a consolidation, with its model calls inside. */
export class BackgroundWork {
  readonly spans: WorkSpans;
  readonly #telemetry: Telemetry;
  readonly #kind: "memory_flush" | "consolidation";
  readonly #owner: SpanOwner;
  readonly #span: Span;
  readonly #began = performance.now();

  constructor(
    telemetry: Telemetry,
    kind: "memory_flush" | "consolidation",
    { slot, callId }: AgentEvent,
    links: Link[],
  ) {
    this.#telemetry = telemetry;
    this.#kind = kind;
    const owner = { slot, callId, clock: new SpanClock() };
    this.#owner = owner;
    this.#span = telemetry.start(owner, {
      subject: kind,
      name: `holdfast.${kind}`,
      parent: ROOT_CONTEXT,
      attributes: {},
      links,
    });
    const within = withSpan(ROOT_CONTEXT, this.#span);
    this.spans = new WorkSpans(telemetry, owner, () => within);
  }

  end(usage: Usage | undefined, entries?: number): void {
    if (usage) this.#span.setAttributes(usageAttributes(usage));
    if (entries !== undefined) this.#span.setAttribute(attribute.entries, entries);
    this.#close();
  }

  fail(error: string): void {
    const type = asErrorType(error);
    fail(this.#span, type);
    this.#close(type);
  }

  #close(failure?: string): void {
    this.spans.endAll(failure ?? "abandoned");
    this.#telemetry.instruments.backgroundDuration.record(
      (performance.now() - this.#began) / 1_000,
      {
        [attribute.agentName]: this.#telemetry.agent.name,
        [attribute.backgroundKind]: this.#kind,
        ...(failure !== undefined && { [attribute.errorType]: failure }),
      },
    );
    endSpan(this.#span, this.#owner.clock.now());
  }
}
