import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** Spans kept in memory, to be shown; a program in production exports them. */
export class Tracing {
  readonly #exporter = new InMemorySpanExporter();

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const spanProcessors = [new SimpleSpanProcessor(this.#exporter)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  }

  /** The first call's spans as an indented tree. */
  firstCall(): string[] {
    const top = this.#exporter
      .getFinishedSpans()
      .find(({ parentSpanContext }) => !parentSpanContext);
    return top ? this.#lines(top, "") : [];
  }

  #lines(span: ReadableSpan, indent: string): string[] {
    const { spanId } = span.spanContext();
    const below = this.#exporter
      .getFinishedSpans()
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId)
      .toSorted((one, other) => nanoseconds(one) - nanoseconds(other));
    const tokens = span.attributes["gen_ai.usage.input_tokens"];
    const bytes = span.attributes["holdfast.state.bytes"];
    const note = tokens !== undefined ? `  ${tokens} tokens in` : bytes ? `  ${bytes} bytes` : "";
    return [
      `${indent}${span.name}${note}`,
      ...below.flatMap((child) => this.#lines(child, `${indent}  `)),
    ];
  }
}

function nanoseconds({ startTime: [seconds, rest] }: ReadableSpan): number {
  return seconds * 1e9 + rest;
}
