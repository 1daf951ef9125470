import type { AgentEvent, Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import { currentCall } from "../call/current-call.js";
import { OTHER_ERROR } from "../names.js";
import { SpanClock } from "../span-clock.js";
import { loadSpan, recordLoad, recordSave, saveSpan } from "../store-spans.js";
import type { SpanOwner, Telemetry } from "../telemetry.js";
import { WorkSpans } from "../work-spans.js";
import { BackgroundWork } from "./background-work.js";
import { BoundedMap } from "./bounded-map.js";

/** Pieces of work that may be open at once; one whose end nobody told of must not stay for ever. */
const MAX_OPEN = 256;
/** Sessions whose last call is remembered, to link to. */
const MAX_CALLS = 1_000;

/**
 * The spans of work that is part of no call: memory flushes and consolidations, each a trace of its own that links to the
 * session's last call, and compactions by hand, which belong to whatever is active.
 */
export class BackgroundSpans {
  readonly #telemetry: Telemetry;
  readonly #lastCalls = new BoundedMap<SpanContext>(MAX_CALLS);
  readonly #works = new BoundedMap<BackgroundWork>(MAX_OPEN, (work) => work.fail(OTHER_ERROR));
  /** Of work that has no span of its own. */
  readonly #loose = new BoundedMap<WorkSpans>(MAX_OPEN, (spans) => spans.endAll(OTHER_ERROR));

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /** Remembers the newest call of a session. */
  calledBy(slot: Slot, call: SpanContext): void {
    if (isSpanContextValid(call)) this.#lastCalls.set(slotText(slot), call);
  }

  observe(event: AgentEvent): void {
    if (event.background !== true) return;
    switch (event.type) {
      case "memory_flush_start":
        this.#begin("memory_flush", event);
        break;
      case "memory_flush_end":
        this.#take(event)?.end(event.usage, event.entries);
        break;
      case "memory_flush_failed":
        this.#take(event)?.fail(event.error);
        break;
      case "consolidation":
        if (event.state === "start") this.#begin("consolidation", event);
        else if (event.state === "end") this.#take(event)?.end(event.usage);
        else this.#take(event)?.fail(event.error ?? OTHER_ERROR);
        break;
      case "state_loaded":
        recordLoad(this.#telemetry, event);
        this.#underActive((parent) => loadSpan(this.#telemetry, ownerOf(event), event, parent));
        break;
      case "state_saved":
        recordSave(this.#telemetry, event);
        this.#underActive((parent) => saveSpan(this.#telemetry, ownerOf(event), event, parent));
        break;
      default:
        this.#observeWork(event);
    }
  }

  /** Ends what is still open. */
  close(): void {
    this.#works.clear();
    this.#loose.clear();
  }

  #begin(kind: "memory_flush" | "consolidation", event: AgentEvent): void {
    const links = this.#links(event.slot);
    this.#works.set(keyOf(event), new BackgroundWork(this.#telemetry, kind, event, links));
  }

  #take(event: AgentEvent): BackgroundWork | undefined {
    return this.#works.take(keyOf(event));
  }

  #observeWork(event: AgentEvent): void {
    const key = keyOf(event);
    const work = this.#works.get(key);
    if (work) {
      work.spans.observe(event);
      return;
    }
    if (event.type !== "model_call_start" && event.type !== "compaction_start") {
      const spans = this.#loose.get(key);
      spans?.observe(event);
      if (spans?.isIdle) this.#loose.take(key);
      return;
    }
    const spans = this.#loose.get(key) ?? this.#looseSpans(event);
    spans.observe(event);
  }

  #looseSpans(event: AgentEvent): WorkSpans {
    const spans = new WorkSpans(this.#telemetry, ownerOf(event), () => this.#activeParent());
    this.#loose.set(keyOf(event), spans);
    return spans;
  }

  /** A lone span that says only that something was saved would be a trace of its own: it is left to the metrics. */
  #underActive(make: (parent: Context) => void): void {
    const parent = this.#activeParent();
    if (trace.getSpan(parent)) make(parent);
  }

  /** What is active, unless that is a call which has ended: work it left behind is not part of it. */
  #activeParent(): Context {
    return currentCall(this.#telemetry)?.hasEnded ? ROOT_CONTEXT : context.active();
  }

  #links(slot: Slot): Link[] {
    const key = slotText(slot);
    const call = currentCall(this.#telemetry);
    const linked =
      call && slotText(call.slot) === key ? call.span.spanContext() : this.#lastCalls.get(key);
    return linked && isSpanContextValid(linked) ? [{ context: linked }] : [];
  }
}

/** Callers may give calls of two sessions one id. */
function keyOf({ slot, callId }: AgentEvent): string {
  return `${slotText(slot)} ${callId}`;
}

function ownerOf({ slot, callId }: AgentEvent): SpanOwner {
  return { slot, callId, clock: new SpanClock() };
}
