import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { Usage } from "../message/message.js";
import { type AgentParts, backgroundEvent, observer } from "./assemble/agent-parts.js";
import type { EventBuffer } from "./event-buffer.js";
import type { FedRun, FeedWriter } from "./feed/feed-writer.js";

/** Events of one call, from `call_start` to `call_end`: numbers them, and passes them on to all who read them. */
export class CallEvents {
  /** Present when the events are kept for `attach`; numbers them. */
  readonly feed: FeedWriter | undefined;
  readonly #parts: AgentParts;
  readonly #call: FedRun;
  readonly #buffer: EventBuffer | null;
  readonly #began = performance.now();
  readonly #watchers: ((event: AgentEvent) => void)[] = [];
  readonly #watch = observer(this.#watchers);
  #seq = 0;
  #hasBegun = false;
  #hasEnded = false;

  constructor(parts: AgentParts, call: FedRun, buffer: EventBuffer | null) {
    this.#parts = parts;
    this.#call = call;
    this.#buffer = buffer;
    this.feed = parts.feeds?.writer(call);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds a listener of this call alone. */
  observe(listener: (event: AgentEvent) => void): void {
    this.#watchers.push(listener);
  }

  /** Once, whichever way the call goes: every call's events begin with it. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.emit({ type: "call_start" });
  }

  emit(body: EventBody): void {
    const { slot, callId, runId } = this.#call;
    // A hook may have left work behind that still has something to tell; `call_end` stays the last of the call.
    if (this.#hasEnded) {
      this.#parts.observe(backgroundEvent(slot, callId, body));
      return;
    }
    const envelope = { slot, callId, runId };
    const fed = this.feed?.push(body);
    this.#buffer?.push(body, envelope, fed);
    const event: AgentEvent = { ...body, ...envelope, seq: fed ?? this.#seq++ };
    this.#watch(event);
    this.#parts.observe(event);
  }

  /** Emits the last event, and ends what readers follow. */
  end(reason: string, usage: Usage): void {
    this.begin();
    this.emit({ type: "call_end", reason, usage, durationMs: performance.now() - this.#began });
    this.#hasEnded = true;
    if (this.feed) this.#parts.feeds?.settle(this.feed);
    this.#buffer?.end();
  }
}
