import { context, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { onTestFinished } from "vitest";

/** A real SDK that keeps what it is given. */
export class Observatory {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  });
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  readonly tracer: Tracer;

  constructor() {
    context.disable();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    this.tracerProvider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(this.#spans)],
    });
    this.meterProvider = new MeterProvider({ readers: [this.#reader] });
    this.tracer = this.tracerProvider.getTracer("test");
    onTestFinished(async () => {
      context.disable();
      await this.tracerProvider.shutdown();
      await this.meterProvider.shutdown();
    });
  }

  get spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  named(name: string): ReadableSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** A span and all below it, as indented lines in the order they began. */
  tree(top: ReadableSpan, indent = ""): string {
    const below = this.spans
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === top.spanContext().spanId)
      .toSorted(
        (one, other) =>
          one.startTime[0] - other.startTime[0] || one.startTime[1] - other.startTime[1],
      );
    const lines = below.map((span) => this.tree(span, `${indent}  `));
    return [indent + top.name, ...lines].join("\n");
  }

  /** Everything that would leave the process, as one text. */
  async exported(): Promise<string> {
    await this.#reader.forceFlush();
    const spans = this.spans.map(({ name, attributes, events, links, status }) => [
      ...[name, attributes, status],
      ...events.map((event) => [event.name, event.attributes]),
      ...links.map((link) => link.attributes),
    ]);
    return JSON.stringify([spans, this.#metrics.getMetrics()]);
  }
}
