import type { AgentEvent } from "@holdfast/core";
import { revisionSeq } from "@holdfast/core/store-kit";
import type { Context } from "@opentelemetry/api";
import { attribute } from "./names.js";
import { endSpan, type SpanOwner, type Telemetry } from "./telemetry.js";

type Loaded = Extract<AgentEvent, { type: "state_loaded" }>;
type Saved = Extract<AgentEvent, { type: "state_saved" }>;

/** Records the span of a finished load. `notBefore`: end of the wait for the session. */
export function loadSpan(
  telemetry: Telemetry,
  owner: SpanOwner,
  event: Loaded,
  parent: Context,
  notBefore = 0,
): void {
  const now = owner.clock.now();
  const { source, bytes, messages, revision, durationMs } = event;
  const span = telemetry.start(owner, {
    subject: "state_load",
    name: "holdfast.state.load",
    parent,
    startTime: Math.max(notBefore, now - durationMs),
    attributes: {
      [attribute.stateSource]: source,
      [attribute.stateBytes]: bytes,
      [attribute.stateMessages]: messages,
      ...(revision !== null && { [attribute.stateRevision]: revisionSeq(revision) }),
    },
  });
  endSpan(span, now);
}

/** Records the span of a finished save. `messages`: length of the context, if known. */
export function saveSpan(
  telemetry: Telemetry,
  owner: SpanOwner,
  event: Saved,
  parent: Context,
  messages?: number,
): void {
  const now = owner.clock.now();
  const { bytes, durationMs, revision, final } = event;
  const span = telemetry.start(owner, {
    subject: "state_save",
    name: "holdfast.state.save",
    parent,
    startTime: now - durationMs,
    attributes: {
      [attribute.stateBytes]: bytes,
      [attribute.stateRevision]: revisionSeq(revision),
      [attribute.stateFinal]: final,
      ...(messages !== undefined && { [attribute.stateMessages]: messages }),
    },
  });
  endSpan(span, now);
}

/** Records the metrics of a load. */
export function recordLoad(telemetry: Telemetry, event: Loaded): void {
  const { instruments } = telemetry;
  const labels = { [attribute.agentName]: telemetry.agentOf(event.slot).name };
  instruments.queueWait.record(event.waitedMs / 1_000, labels);
  instruments.loadDuration.record(event.durationMs / 1_000, {
    ...labels,
    [attribute.stateSource]: event.source,
  });
}

/** Records the metrics of a save. */
export function recordSave(telemetry: Telemetry, event: Saved): void {
  const { instruments } = telemetry;
  const labels = { [attribute.agentName]: telemetry.agentOf(event.slot).name };
  instruments.saveDuration.record(event.durationMs / 1_000, labels);
  instruments.saveBytes.record(event.bytes, labels);
}
