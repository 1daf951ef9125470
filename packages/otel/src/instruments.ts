import {
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type UpDownCounter,
} from "@opentelemetry/api";
import { SCOPE } from "./names.js";
import { quietly } from "./quietly.js";

/** Counters and histograms of an agent. */
export interface Instruments {
  readonly modelDuration: Histogram;
  readonly timeToFirstChunk: Histogram;
  readonly tokens: Histogram;
  readonly callDuration: Histogram;
  readonly toolDuration: Histogram;
  readonly activeCalls: UpDownCounter;
  readonly queueWait: Histogram;
  readonly loadDuration: Histogram;
  readonly saveDuration: Histogram;
  readonly saveBytes: Histogram;
  readonly compactions: Counter;
  readonly evictions: Counter;
  readonly interrupts: Counter;
  readonly lostLeases: Counter;
  readonly takeovers: Counter;
  readonly resumedRuns: Counter;
  readonly recoveries: Counter;
  readonly queueWaits: Counter;
  readonly asks: Counter;
  readonly discardedAttempts: Counter;
  readonly rollbacks: Counter;
  readonly backgroundDuration: Histogram;
}

/** Buckets of the conventions for model and tool calls. */
const operationSeconds = doublings(0.01, 14);
/** Buckets of the conventions for whole calls. */
const callSeconds = doublings(0.1, 13);
/** Buckets of the conventions for tokens. */
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power);
const firstChunkSeconds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const storeSeconds = doublings(0.0005, 14);
const byteCounts = Array.from({ length: 10 }, (_, power) => 256 * 4 ** power);

/**
 * Instruments of a meter provider. Unlike tracers, meters created before an SDK is registered stay no-ops for ever, so the
 * global provider is looked up each time.
 */
export class InstrumentSource {
  readonly #given: MeterProvider | undefined;
  #provider: MeterProvider | undefined;
  #instruments: Instruments | undefined;
  #isMeasured = false;

  constructor(given: MeterProvider | undefined) {
    this.#given = given;
  }

  get(): Instruments {
    const provider = this.#given ?? metrics.getMeterProvider();
    if (this.#instruments === undefined || provider !== this.#provider) {
      this.#provider = provider;
      const meter = provider.getMeter(SCOPE);
      this.#isMeasured = meter !== createNoopMeter();
      this.#instruments = create(meter);
    }
    return this.#instruments;
  }

  /** True if a meter is registered. */
  get isMeasured(): boolean {
    this.get();
    return this.#isMeasured;
  }
}

function create(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, description: string, buckets: number[]) =>
    quietHistogram(
      meter.createHistogram(name, {
        unit,
        description,
        advice: { explicitBucketBoundaries: buckets },
      }),
    );
  const seconds = (name: string, description: string, buckets: number[]) =>
    histogram(name, "s", description, buckets);
  const counter = (name: string, unit: string, description: string) =>
    quietCounter(meter.createCounter(name, { unit, description }));
  return {
    modelDuration: seconds(
      "gen_ai.client.operation.duration",
      "GenAI operation duration.",
      operationSeconds,
    ),
    timeToFirstChunk: seconds(
      "gen_ai.client.operation.time_to_first_chunk",
      "Time to receive the first chunk of a model's reply.",
      firstChunkSeconds,
    ),
    tokens: histogram(
      "gen_ai.client.token.usage",
      "{token}",
      "Number of input and output tokens used.",
      tokenCounts,
    ),
    callDuration: seconds(
      "gen_ai.invoke_agent.duration",
      "Duration of an agent's call, from its arrival to its last save.",
      callSeconds,
    ),
    toolDuration: seconds(
      "gen_ai.execute_tool.duration",
      "Duration of a tool execution.",
      operationSeconds,
    ),
    activeCalls: quietCounter(
      meter.createUpDownCounter("holdfast.active_calls", {
        unit: "{call}",
        description: "Calls that wait for their turn or run.",
      }),
    ),
    queueWait: seconds(
      "holdfast.queue_wait.duration",
      "Time that calls waited for their session; 0 for those that did not. With an error type: calls that left the queue.",
      callSeconds,
    ),
    loadDuration: seconds(
      "holdfast.state.load.duration",
      "Duration of acquiring a session and loading its state, without the wait.",
      storeSeconds,
    ),
    saveDuration: seconds(
      "holdfast.state.save.duration",
      "Duration of saving a session's state.",
      storeSeconds,
    ),
    saveBytes: histogram(
      "holdfast.state.save.size",
      "By",
      "Bytes written by saving a session's state.",
      byteCounts,
    ),
    compactions: counter("holdfast.compactions", "{compaction}", "Compactions of contexts."),
    evictions: counter("holdfast.evictions", "{result}", "Tool results kept out of the context."),
    interrupts: counter("holdfast.interrupts", "{call}", "Calls that were stopped from outside."),
    lostLeases: counter("holdfast.leases.lost", "{call}", "Calls that lost their session's lease."),
    takeovers: counter(
      "holdfast.takeovers",
      "{run}",
      "Runs found that had begun and never ended, because their process died or their save failed.",
    ),
    resumedRuns: counter(
      "holdfast.runs.resumed",
      "{run}",
      "Runs without a reply that their call, repeated or resumed, went on with.",
    ),
    recoveries: counter(
      "holdfast.recoveries",
      "{run}",
      "Attempts to continue runs of nodes that died, with the agent's option recover.",
    ),
    queueWaits: counter(
      "holdfast.queue_waits",
      "{call}",
      "Calls that had to wait for their session.",
    ),
    asks: counter(
      "holdfast.asks",
      "{call}",
      "Tool calls that wait for a person's approval or for a result from outside.",
    ),
    discardedAttempts: counter(
      "holdfast.attempts.discarded",
      "{request}",
      "Model requests whose streamed reply does not count.",
    ),
    rollbacks: counter(
      "holdfast.store.rollbacks",
      "{load}",
      "Loads that found an older state than this process knew.",
    ),
    backgroundDuration: seconds(
      "holdfast.background.duration",
      "Duration of memory flushes and consolidations.",
      callSeconds,
    ),
  };
}

/** Ignores errors, because a view may contain code of the program that throws. */
function quietHistogram(histogram: Histogram): Histogram {
  return { record: (...args) => quietly(() => histogram.record(...args)) };
}

function quietCounter(counter: Counter): Counter {
  return { add: (...args) => quietly(() => counter.add(...args)) };
}

function doublings(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, power) => Number((first * 2 ** power).toPrecision(4)));
}
