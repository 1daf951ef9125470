import type { AgentEvent, EventBody, EventEnvelope } from "../events/agent-event.js";

/** Unread events past which their deltas are merged. */
export const MAX_UNREAD_EVENTS = 10_000;

/** Bytes of unread events, approximately, past which the oldest are dropped. */
export const MAX_UNREAD_BYTES = 16_777_216;

/** Part of either limit that is in use at most once room was made, so that the work of making it is worth it. */
const KEPT_PART = 0.75;

/** Characters past which a merged delta takes in no more: a longer one could only be dropped as a whole. */
const MAX_MERGED_CHARS = 65_536;

/** Bytes of an event besides its strings. */
const EVENT_BYTES = 200;

type Delta = Extract<
  EventBody,
  { readonly type: "text_delta" | "thinking_delta" | "tool_call_delta" }
>;
type Envelope = Omit<EventEnvelope, "seq">;

interface Unread {
  readonly body: EventBody;
  readonly envelope: Envelope;
  readonly bytes: number;
  /** Number of events that this one stands for. */
  readonly count: number;
  /** Number of the last of them, when they have numbers of their own. */
  readonly seq: number | undefined;
}

/**
 * Events between the call that emits them and the loop that reads them, bounded in number and bytes.
 *
 * Contract:
 * - Up to the limits every event is read as it was emitted.
 * - Past them, deltas with only other deltas in between are merged: those of each block, and those of the input of each tool
 *   call, each in its own order. Where there are still too many, all of the text are merged, and all of the thinking.
 * - When that is not enough, the oldest events are dropped, but for `call_start`, and `events_dropped` stands in their place.
 * - Events are numbered as they are read, without gaps, unless they come with numbers.
 */
export class EventBuffer {
  #unread: Unread[] = [];
  readonly #readers: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  /** Index of the first of `#unread` that has not been read. */
  #head = 0;
  #bytes = 0;
  #seq = 0;
  #ended = false;

  /** Number of unread events. */
  get size(): number {
    return this.#unread.length - this.#head;
  }

  /** Bytes of the unread events, approximately. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param seq - number of the event in the feed of its call, which it keeps */
  push(body: EventBody, envelope: Envelope, seq?: number): void {
    const reader = this.#readers.shift();
    if (reader) {
      reader({ done: false, value: this.#numbered(body, envelope, seq) });
      return;
    }
    const bytes = bytesOf(body);
    this.#unread.push({ body, envelope, bytes, count: 1, seq });
    this.#bytes += bytes;
    if (this.size > MAX_UNREAD_EVENTS || this.#bytes > MAX_UNREAD_BYTES) this.#makeRoom();
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const next = this.#unread[this.#head];
    if (next) {
      this.#head++;
      this.#bytes -= next.bytes;
      // Shifting one by one would make reading a long backlog quadratic.
      if (this.#head > 1_000) {
        this.#unread.splice(0, this.#head);
        this.#head = 0;
      }
      const { body, envelope, seq } = next;
      return Promise.resolve({ done: false, value: this.#numbered(body, envelope, seq) });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  #numbered(body: EventBody, envelope: Envelope, seq = this.#seq++): AgentEvent {
    return { ...body, ...envelope, seq };
  }

  /** Merges what can be merged, then drops the oldest events that are still too many. */
  #makeRoom(): void {
    let merged = mergeDeltas(this.#unread.slice(this.#head), blockOf);
    if (merged.length > MAX_UNREAD_EVENTS * KEPT_PART) merged = mergeDeltas(merged, kindOf);
    let size = merged.length;
    let bytes = merged.reduce((sum, one) => sum + one.bytes, 0);
    const first = merged[0]?.body.type === "call_start" ? 1 : 0;
    let from = first;
    let dropped = 0;
    let seq: number | undefined;
    while (
      from < merged.length - 1 &&
      (size > MAX_UNREAD_EVENTS * KEPT_PART || bytes > MAX_UNREAD_BYTES * KEPT_PART)
    ) {
      const { bytes: freed, count, body, seq: last } = merged[from++] as Unread;
      seq = last;
      size--;
      bytes -= freed;
      dropped += body.type === "events_dropped" ? body.count : count;
    }
    const { envelope } = merged[from] as Unread;
    const notice: Unread[] =
      dropped === 0
        ? []
        : [
            {
              body: { type: "events_dropped", count: dropped },
              envelope,
              bytes: EVENT_BYTES,
              count: 0,
              seq,
            },
          ];
    this.#unread = [...merged.slice(0, first), ...notice, ...merged.slice(from)];
    this.#head = 0;
    this.#bytes = bytes + notice.length * EVENT_BYTES;
  }
}

/** A merged delta that may still grow. */
interface Growing {
  readonly index: number;
  readonly pieces: string[];
  chars: number;
  /** Number of events that it stands for. */
  count: number;
  seq: number | undefined;
}

/**
 * Merges the deltas between two events that are none, each kind in its own order.
 *
 * @param nameOf - returns the same for deltas that may be merged
 */
function mergeDeltas(unread: readonly Unread[], nameOf: (body: Delta) => string): Unread[] {
  const merged: Unread[] = [];
  const growing = new Map<string, Growing>();
  const close = (one: Growing) => {
    const { body, envelope } = merged[one.index] as Unread;
    // Joined from an array: a string that grew by `+` would keep each of its pieces alive.
    const whole = withText(body as Delta, one.pieces.join(""));
    const { count, seq } = one;
    merged[one.index] = { envelope, body: whole, bytes: bytesOf(whole), count, seq };
  };
  for (const one of unread) {
    const { body } = one;
    if (!isDelta(body)) {
      for (const each of growing.values()) close(each);
      growing.clear();
      merged.push(one);
      continue;
    }
    const name = nameOf(body);
    const text = textOfDelta(body);
    const known = growing.get(name);
    if (known && known.chars + text.length <= MAX_MERGED_CHARS) {
      known.pieces.push(text);
      known.chars += text.length;
      known.count += one.count;
      known.seq = one.seq;
      continue;
    }
    if (known) close(known);
    const { length: chars } = text;
    const { count, seq } = one;
    growing.set(name, { index: merged.length, pieces: [text], chars, count, seq });
    merged.push(one);
  }
  for (const each of growing.values()) close(each);
  return merged;
}

function blockOf(body: Delta): string {
  return body.type === "tool_call_delta" ? body.toolCallId : body.blockId;
}

function kindOf(body: Delta): string {
  return body.type === "tool_call_delta" ? body.toolCallId : body.type;
}

function isDelta(body: EventBody): body is Delta {
  return (
    body.type === "text_delta" || body.type === "thinking_delta" || body.type === "tool_call_delta"
  );
}

function textOfDelta(body: Delta): string {
  return body.type === "tool_call_delta" ? body.inputDelta : body.text;
}

function withText(body: Delta, text: string): Delta {
  return body.type === "tool_call_delta" ? { ...body, inputDelta: text } : { ...body, text };
}

/** Bytes of an event, approximately: two per character of its strings, and those of what holds them. */
function bytesOf(body: EventBody): number {
  if (isDelta(body)) return EVENT_BYTES + 2 * textOfDelta(body).length;
  let bytes = EVENT_BYTES;
  const seen = new Set<unknown>();
  const left: unknown[] = [body];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") bytes += 2 * value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (typeof value === "object" && value !== null && !seen.has(value)) {
      // An event of a third party may hold itself.
      seen.add(value);
      bytes += 16;
      for (const part of Object.values(value)) {
        bytes += 8;
        left.push(part);
      }
    }
  }
  return bytes;
}
