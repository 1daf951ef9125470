/** One who takes turns on sessions: a floor, an agent on one or several nodes, or a peer. */
export interface Contender {
  /** Store in which it keeps sessions: `redis`, `mysql`, `json`, or a peer's own. */
  readonly store: string;
  /** For example `one node`. */
  readonly name: string;
  /** Makes a session that holds as many messages. */
  seed(sessionId: string, messages: number): Promise<void>;
  /** Asks a question and waits until question and answer are stored. */
  turn(sessionId: string): Promise<void>;
  /** Takes and measures turns, for one who lives in another process. @default measured here */
  takeTurns?(sessionId: string, effort: TurnEffort): Promise<TurnSample>;
}

/** Extent of a round. */
export interface TurnEffort {
  /** Turns of a round. */
  readonly batch: number;
  /** Time after which a round ends early, with at least one turn. */
  readonly maxMs: number;
}

/** Cost of a turn, measured in one round. */
export interface TurnSample {
  /** Turns that were taken. */
  readonly turns: number;
  /** Milliseconds of the turn in the middle. */
  readonly ms: number;
  /** Milliseconds of processor time of the contender's process per turn, in all its threads; a server's are not in it. */
  readonly cpuMs: number;
}
