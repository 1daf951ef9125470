import type { AgentEvent } from "@holdfast/core";
import { type Context, type Span, trace } from "@opentelemetry/api";
import { asErrorType } from "./error-type.js";
import { attribute } from "./names.js";
import {
  endSpan,
  fail,
  type SpanOwner,
  type Telemetry,
  usageAttributes,
  withSpan,
} from "./telemetry.js";

type Start = Extract<AgentEvent, { type: "compaction_start" }>;
type End = Extract<AgentEvent, { type: "compaction_end" }>;

/** Span of one compaction, with its model calls inside. */
export class CompactionSpan {
  readonly context: Context;
  readonly #telemetry: Telemetry;
  readonly #owner: SpanOwner;
  readonly #span: Span;
  readonly #cause: string;
  readonly #around: Span | undefined;

  constructor(telemetry: Telemetry, owner: SpanOwner, event: Start, parent: Context) {
    this.#telemetry = telemetry;
    this.#owner = owner;
    this.#cause = event.cause;
    this.#around = trace.getSpan(parent);
    this.#span = telemetry.start(owner, {
      subject: "compaction",
      name: "holdfast.compaction",
      parent,
      attributes: {
        [attribute.compactionCause]: event.cause,
        [attribute.messagesBefore]: event.messages,
        [attribute.tokensBefore]: event.tokens,
      },
    });
    this.context = withSpan(parent, this.#span);
  }

  /** Tells whether work with this parent is part of the compaction, whose own span is never active. */
  holds(parent: Context): boolean {
    return trace.getSpan(parent) === this.#around;
  }

  end(event: End): void {
    this.#span.setAttributes({
      [attribute.compactionActions]: [...event.actions],
      [attribute.messagesAfter]: event.messagesAfter,
      [attribute.tokensAfter]: event.tokensAfter,
      ...(event.usage && usageAttributes(event.usage)),
    });
    this.#close();
  }

  fail(type: string): void {
    const failure = asErrorType(type);
    fail(this.#span, failure);
    this.#close(failure);
  }

  #close(failure?: string): void {
    this.#telemetry.instruments.compactions.add(1, {
      [attribute.agentName]: this.#telemetry.agentOf(this.#owner.slot).name,
      [attribute.compactionCause]: this.#cause,
      ...(failure !== undefined && { [attribute.errorType]: failure }),
    });
    endSpan(this.#span, this.#owner.clock.now());
  }
}
