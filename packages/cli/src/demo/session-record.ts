import type { Happening } from "./happening.js";
import type { Turn } from "./turn.js";

/** One turn as it went. */
export interface TurnRecord extends Turn {
  readonly turn: number;
  readonly callId: string;
  readonly answer: string;
  /** Tokens of the last request that was sent for it. */
  readonly tokens: number;
  /** Tools that were used for it. */
  readonly tools: readonly string[];
}

/** A session as the process that watched it saw it. */
export interface SessionRecord {
  readonly turns: readonly TurnRecord[];
  readonly happenings: readonly Happening[];
  /** Tokens of all requests, summaries and the work of the memory included. */
  readonly sentTokens: number;
  /** Tokens of the prompt before the first message, at the beginning. */
  readonly promptTokens: number;
  /** Ids of the tool calls whose result was evicted. */
  readonly evictedCalls: readonly string[];
  /** Processes that were ended by SIGKILL while they answered. */
  readonly kills: number;
  /** What is not as it should be, one sentence each. */
  readonly problems: readonly string[];
}
