import type { AgentEvent, Slot } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
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
import { countEvent } from "../event-counts.js";
import { OTHER_ERROR } from "../names.js";
import { SpanClock } from "../span-clock.js";
import { loadSpan, recordLoad, recordSave, saveSpan } from "../store-spans.js";
import type { SpanOwner, Telemetry } from "../telemetry.js";
import { WorkSpans } from "../work-spans.js";
import { BackgroundWork } from "./background-work.js";

/** Pieces of work that may be open at once, so that one whose end event never comes does not stay for ever. */
const MAX_OPEN = 256;
/** Sessions whose last call is remembered, as a link target. */
const MAX_CALLS = 1_000;

/**
 * Spans of work outside calls: memory flushes and consolidations, each a trace of its own that links to the session's last
 * call, and manual compactions, which belong to the active span.
 */
export class BackgroundSpans {
  readonly #telemetry: Telemetry;
  readonly #lastCalls = new BoundedMap<string, SpanContext>({ maxEntries: MAX_CALLS });
  readonly #works = new BoundedMap<string, BackgroundWork>({
    maxEntries: MAX_OPEN,
    onEvict: (work) => work.fail(OTHER_ERROR),
  });
  /** Model calls and compactions that belong neither to a call nor to background work. */
  readonly #loose = new BoundedMap<string, WorkSpans>({
    maxEntries: MAX_OPEN,
    onEvict: (spans) => spans.endAll(OTHER_ERROR),
  });

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /** Remembers the latest call of a session. */
  rememberCall(slot: Slot, call: SpanContext): void {
    if (isSpanContextValid(call)) this.#lastCalls.set(slotText(slot), call);
  }

  observe(event: AgentEvent): void {
    if (event.background !== true) return;
    countEvent(this.#telemetry, event);
    switch (event.type) {
      case "memory_flush_start":
        this.#begin("memory_flush", event);
        break;
      case "memory_flush_end":
        this.#finish(event)?.end(event.usage, event.entries);
        break;
      case "memory_flush_failed":
        this.#finish(event)?.fail(event.error);
        break;
      case "consolidation":
        if (event.state === "start") this.#begin("consolidation", event);
        else if (event.state === "end") this.#finish(event)?.end(event.usage);
        else this.#finish(event)?.fail(event.error ?? OTHER_ERROR);
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

  /** Ends all open spans. */
  close(): void {
    this.#works.clear();
    this.#loose.clear();
  }

  #begin(kind: "memory_flush" | "consolidation", event: AgentEvent): void {
    const links = this.#links(event.slot);
    this.#works.set(keyOf(event), new BackgroundWork(this.#telemetry, kind, event, links));
  }

  #finish(event: AgentEvent): BackgroundWork | undefined {
    return this.#works.delete(keyOf(event));
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
      if (spans?.isIdle) this.#loose.delete(key);
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

  /** Makes a span only below an active one: a load or save alone would be a trace of its own, and metrics cover it. */
  #underActive(make: (parent: Context) => void): void {
    const parent = this.#activeParent();
    if (trace.getSpan(parent)) make(parent);
  }

  /** Returns the active context, unless it is that of a call that has ended: work it left behind is not part of it. */
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

/** Includes the slot, because callers may use one id for calls of two sessions. */
function keyOf({ slot, callId }: AgentEvent): string {
  return `${slotText(slot)} ${callId}`;
}

function ownerOf({ slot, callId }: AgentEvent): SpanOwner {
  return { slot, callId, clock: new SpanClock() };
}
