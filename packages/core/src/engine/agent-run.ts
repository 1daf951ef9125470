import type { AgentEvent, EventBody, EventEnvelope } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";

/** Unread events past which deltas are merged. */
export const MAX_UNREAD_EVENTS = 10_000;

/**
 * A running call: its events as they happen, and its reply.
 *
 * Contract:
 * - The call runs whether or not its events are read: leaving the loop, or never entering it, does not stop it.
 * - Events are numbered without gaps and `call_end` is the last. Unread ones are kept; past 10,000, adjacent deltas are
 *   merged, so that no text is lost.
 * - Each event is read once, by whichever loop asks first.
 */
export class AgentRun<T = unknown> implements AsyncIterable<AgentEvent> {
  /** The call's reply; rejects as `call` would. */
  readonly result: Promise<AgentReply<T>>;
  readonly callId: string;
  readonly #buffer: EventBuffer;

  constructor(callId: string, buffer: EventBuffer, result: Promise<AgentReply<T>>) {
    this.callId = callId;
    this.#buffer = buffer;
    this.result = result;
    // A program that only reads events must not die of an unhandled rejection.
    result.catch(() => undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return {
      next: () => this.#buffer.next(),
      return: async () => ({ done: true, value: undefined }),
    };
  }
}

/** Events between the call that emits them and the loop that reads them. */
export class EventBuffer {
  readonly #events: AgentEvent[] = [];
  readonly #readers: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #head = 0;
  #seq = 0;
  #ended = false;

  push(body: EventBody, envelope: Omit<EventEnvelope, "seq">): void {
    if (this.#events.length - this.#head >= MAX_UNREAD_EVENTS && this.#merge(body)) return;
    const event: AgentEvent = { ...body, ...envelope, seq: this.#seq++ };
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value: event });
    else this.#events.push(event);
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const event = this.#events[this.#head];
    if (event) {
      this.#head++;
      // Shifting one by one would make reading a long backlog quadratic.
      if (this.#head > 1_000) {
        this.#events.splice(0, this.#head);
        this.#head = 0;
      }
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  #merge(body: EventBody): boolean {
    const last = this.#events.at(-1);
    const merged = last && joined(last, body);
    if (merged) this.#events[this.#events.length - 1] = merged;
    return merged !== undefined;
  }
}

/** Two deltas of the same thing as one, or undefined. */
function joined(last: AgentEvent, next: EventBody): AgentEvent | undefined {
  if (last.type === "text_delta" && next.type === "text_delta")
    return { ...last, text: last.text + next.text };
  if (last.type === "thinking_delta" && next.type === "thinking_delta")
    return { ...last, text: last.text + next.text };
  if (
    last.type === "tool_call_delta" &&
    next.type === "tool_call_delta" &&
    last.toolCallId === next.toolCallId
  )
    return { ...last, inputDelta: last.inputDelta + next.inputDelta };
  return undefined;
}
