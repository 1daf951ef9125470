import type { ConversationLog, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { CallStates } from "../call-states.js";
import type { SessionScope } from "../caller.js";
import type { MessageRecord } from "../message-record.js";
import type { SearchPosition } from "./search-position.js";

/** What to look for, and where. */
export interface Search {
  readonly log: ConversationLog;
  readonly scope: SessionScope;
  readonly query: string;
  /** Go on behind this. */
  readonly from: SearchPosition | undefined;
  readonly states: CallStates;
  readonly clock: YieldingClock;
  readonly signal: AbortSignal;
}

/** A message that holds what was looked for. */
export interface Hit {
  readonly slot: Slot;
  readonly record: MessageRecord;
  /** About its call. */
  readonly remark: string;
  readonly snippet: string;
  /** Where in the rendering to read on from. */
  readonly offset: number;
}

/** How far a search has come, and what it found there. */
export interface Find {
  readonly position: SearchPosition;
  readonly hit?: Hit | undefined;
}
