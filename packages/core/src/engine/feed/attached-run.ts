import type { AgentEvent } from "../../events/agent-event.js";

/**
 * Events of a call that runs anywhere, or has ended a short time ago: first those that have happened, then the others as they
 * happen.
 *
 * Contract:
 * - Each loop begins at the position that was asked for, and ends after the `call_end` of the call. A slow one does not slow
 *   the call.
 * - The `seq` of the last event that was read is where another `attach` goes on.
 * - `run_lost` tells that the process of the call died. The loop then waits for a process that resumes the call, whose events
 *   follow in the same order of numbers.
 * - `events_dropped` stands for events that are missing; the reply and the log have everything.
 */
export class AttachedRun implements AsyncIterable<AgentEvent> {
  readonly callId: string;
  readonly #read: () => AsyncIterator<AgentEvent>;

  constructor(callId: string, read: () => AsyncIterator<AgentEvent>) {
    this.callId = callId;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#read();
  }
}
