import type { AgentEvent, EventBody, EventEnvelope } from "../../events/agent-event.js";
import { isRecord } from "../../json/json.js";
import type { StoredBatch } from "../../ports/event-feed.js";

/** Field of each kind of delta that holds its text. */
const textFields: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "text"],
  ["tool_call_delta", "inputDelta"],
]);

/** Characters of an event besides those of its text, approximately. */
const DELTA_CHARS = 4;

/** Consecutive deltas of one block. */
interface DeltaRun {
  readonly body: Readonly<Record<string, unknown>>;
  readonly field: string;
  readonly pieces: string[];
}

/**
 * Entry of a stored batch: an event, or several deltas of one block, whose text is kept once and whose lengths tell them apart.
 */
type Entry =
  | { readonly event: EventBody }
  | { readonly deltas: Readonly<Record<string, unknown>>; readonly lengths: readonly number[] };

/** Collects events of a run to be appended to its feed as one text. */
export class EventBatch {
  readonly #entries: string[] = [];
  #run: DeltaRun | undefined;
  /** Number of events. */
  count = 0;
  /** Characters of the text, approximately. */
  chars = 0;

  add(event: EventBody): void {
    this.count++;
    const field = textFields.get(event.type);
    if (field !== undefined && this.#addDelta(event as unknown as DeltaRun["body"], field)) return;
    this.#closeRun();
    this.#push(entryText({ event }));
  }

  /** Returns the text of the events. */
  text(): string {
    this.#closeRun();
    return `[${this.#entries.join(",")}]`;
  }

  #addDelta(body: DeltaRun["body"], field: string): boolean {
    const text = body[field];
    if (typeof text !== "string") return false;
    if (!this.#run || !isSameBlock(this.#run, body, field)) {
      this.#closeRun();
      this.#run = { body, field, pieces: [] };
    }
    this.#run.pieces.push(text);
    this.chars += text.length + DELTA_CHARS;
    return true;
  }

  #closeRun(): void {
    if (!this.#run) return;
    const { body, field, pieces } = this.#run;
    this.#run = undefined;
    const deltas = { ...body, [field]: pieces.join("") };
    this.#entries.push(entryText({ deltas, lengths: pieces.map(({ length }) => length) }));
  }

  #push(text: string): void {
    this.#entries.push(text);
    this.chars += text.length;
  }
}

/** An event that JSON cannot hold must not fail the call: it counts as dropped. */
function entryText(entry: Entry): string {
  try {
    return JSON.stringify(entry);
  } catch {
    const count = "event" in entry ? 1 : entry.lengths.length;
    const dropped: Entry[] = Array.from({ length: count }, () => ({
      event: { type: "events_dropped", count: 1 },
    }));
    return dropped.map((one) => JSON.stringify(one)).join(",");
  }
}

function isSameBlock(run: DeltaRun, body: DeltaRun["body"], field: string): boolean {
  const names = Object.keys(body);
  return (
    names.length === Object.keys(run.body).length &&
    names.every((name) => name === field || body[name] === run.body[name])
  );
}

/** Returns the events of a stored batch, as they were emitted; empty when the text cannot be read. */
export function readBatch(
  { runId, first, body }: StoredBatch,
  call: Pick<EventEnvelope, "slot" | "callId">,
): readonly AgentEvent[] {
  let seq = first;
  const numbered = (event: EventBody): AgentEvent =>
    Object.freeze({ ...event, ...call, runId, seq: seq++ });
  return entriesOf(body).flatMap((entry) =>
    "event" in entry ? [numbered(entry.event)] : deltasOf(entry).map(numbered),
  );
}

function entriesOf(body: string): readonly Entry[] {
  try {
    const entries: unknown = JSON.parse(body);
    return Array.isArray(entries) && entries.every(isEntry) ? entries : [];
  } catch {
    return [];
  }
}

/** All entries of a text or none: without one of them the others would have wrong numbers. */
function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  return isRecord(value["event"]) || (isRecord(value["deltas"]) && Array.isArray(value["lengths"]));
}

function deltasOf({ deltas, lengths }: Extract<Entry, { deltas: unknown }>): EventBody[] {
  const field = textFields.get(String(deltas["type"])) ?? "text";
  const text = String(deltas[field]);
  let from = 0;
  return lengths.map((length) => {
    const piece = text.slice(from, from + length);
    from += length;
    return { ...deltas, [field]: piece } as unknown as EventBody;
  });
}
