import type { Slot } from "../slot/slot.js";
import type { EventTypes } from "./event-types.js";

/** Fields of every event. */
export interface EventEnvelope {
  readonly slot: Slot;
  readonly callId: string;
  /** Id of this run of the call; a repeated call runs under an id of its own. Absent from background events. */
  readonly runId?: string | undefined;
  /** 0, 1, 2 … within the call, without gaps; `call_end` has the last one. */
  readonly seq: number;
  /** Set on events of background work, which no caller waits for; they are sent to `onEvent` only. */
  readonly background?: true | undefined;
}

/** Event without its envelope, as hooks emit it: one of {@link EventTypes}, with its `type`. */
export type EventBody = {
  readonly [T in keyof EventTypes]: { readonly type: T } & Readonly<EventTypes[T]>;
}[keyof EventTypes];

/** Event of a call, discriminated by `type`. */
export type AgentEvent = EventBody & EventEnvelope;
