import type { AgentEvent } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { EventBuffer } from "./event-buffer.js";

/**
 * A running call: its events as they happen, and its reply.
 *
 * Contract:
 * - The call runs whether or not its events are read: leaving the loop, or never entering it, does not stop it.
 * - Events are numbered without gaps, as they are read, and `call_end` is the last. Unread ones are kept; past 10,000 or
 *   16 MB deltas are merged, and when that is not enough the oldest are dropped, which `events_dropped` tells. The reply has
 *   everything.
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
