import { ReActAgent, type ReActAgentOptions, tool } from "@holdfast/core";
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
import { z } from "zod";
import { type OtelOptions, otel } from "../src/index.js";

/** A real SDK that keeps what it is given, and agents that report to it. */
export class TelemetryLab {
  readonly #exporter = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  });
  readonly #open = new Set<string>();
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  readonly tracer: Tracer;

  constructor() {
    context.disable();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    this.tracerProvider = new BasicTracerProvider({
      spanProcessors: [
        new SimpleSpanProcessor(this.#exporter),
        {
          onStart: (span) => void this.#open.add(span.spanContext().spanId),
          onEnd: (span) => void this.#open.delete(span.spanContext().spanId),
          forceFlush: async () => undefined,
          shutdown: async () => undefined,
        },
      ],
    });
    this.meterProvider = new MeterProvider({ readers: [this.#reader] });
    this.tracer = this.tracerProvider.getTracer("test");
    onTestFinished(async () => {
      context.disable();
      await this.tracerProvider.shutdown();
      await this.meterProvider.shutdown();
    });
  }

  /** An agent with the plugin; closed when the test is over. */
  agent(
    options: Partial<ReActAgentOptions> & Pick<ReActAgentOptions, "model">,
    own: OtelOptions = {},
  ): ReActAgent {
    const { tracerProvider, meterProvider } = this;
    const agent = new ReActAgent({
      name: "helper",
      modelRetry: { baseDelayMs: 1 },
      ...options,
      plugins: [otel({ tracerProvider, meterProvider, ...own }), ...(options.plugins ?? [])],
    });
    onTestFinished(() => agent.close());
    return agent;
  }

  /** As in a program that registers none. */
  withoutContextManager(): void {
    context.disable();
  }

  get spans(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** How many spans began and have not ended. */
  get openSpans(): number {
    return this.#open.size;
  }

  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans ${name} in\n${this.tree()}`);
    return found[0] as ReadableSpan;
  }

  /** Every span as a line, indented under its parent, in the order they began. */
  tree(describe: (span: ReadableSpan) => string = (span) => span.name): string {
    const spans = this.spans.toSorted(
      (one, other) =>
        one.startTime[0] - other.startTime[0] || one.startTime[1] - other.startTime[1],
    );
    const ids = new Set(spans.map((span) => span.spanContext().spanId));
    const lines = (parent: string | undefined, indent: string): string[] =>
      spans
        .filter(({ parentSpanContext }) => {
          const id = parentSpanContext?.spanId;
          return id !== undefined && ids.has(id) ? id === parent : parent === undefined;
        })
        .flatMap((span) => [
          indent + describe(span),
          ...lines(span.spanContext().spanId, `${indent}  `),
        ]);
    return lines(undefined, "").join("\n");
  }

  /** Everything that would leave the process, as one text. */
  async exported(): Promise<string> {
    await this.#reader.forceFlush();
    const spans = this.spans.map((span) => [
      span.name,
      span.attributes,
      span.events.map(({ name, attributes }) => [name, attributes]),
      span.links.map(({ attributes }) => attributes),
      span.status,
      span.resource.attributes,
    ]);
    return JSON.stringify([spans, this.#metrics.getMetrics()]);
  }

  async metricNames(): Promise<string[]> {
    await this.#reader.forceFlush();
    const last = this.#metrics.getMetrics().at(-1);
    return (last?.scopeMetrics ?? []).flatMap(({ metrics }) =>
      metrics.map(({ descriptor }) => descriptor.name),
    );
  }

  /** Data points of a metric, by name. */
  async points(name: string): Promise<{ attributes: Record<string, unknown>; value: unknown }[]> {
    await this.#reader.forceFlush();
    const last = this.#metrics.getMetrics().at(-1);
    return (last?.scopeMetrics ?? [])
      .flatMap((scope) => scope.metrics)
      .filter((metric) => metric.descriptor.name === name)
      .flatMap((metric) => [...metric.dataPoints]);
  }
}

/** A tool that answers with what `run` returns. */
export function toolNamed(name: string, run: () => unknown): ReturnType<typeof tool> {
  return tool({
    name,
    description: `Does ${name}.`,
    input: z.object({ text: z.string().optional() }),
    execute: () => run(),
  });
}

/** The span's name, and what went wrong. */
export function withError(span: ReadableSpan): string {
  const type = span.attributes["error.type"];
  return type === undefined ? span.name : `${span.name} !${type}`;
}

/** A promise and what resolves it. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A time of a span in nanoseconds. */
export function nanos(time: readonly [number, number] | undefined): number {
  return time === undefined ? Number.NaN : time[0] * 1e9 + time[1];
}
