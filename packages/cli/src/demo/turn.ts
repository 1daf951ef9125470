/** What has to be seen in the answer to a turn for the promise behind it to hold. */
export interface Expectation {
  /** Texts the answer must hold. */
  readonly holds: readonly string[];
  /** Named when it does not. */
  readonly promise: string;
}

/** One thing the user says. */
export interface Turn {
  readonly says: string;
  readonly expects?: Expectation | undefined;
  /** The process is killed while this is being answered. */
  readonly isKilled?: true | undefined;
  /** The statement that this turn asks for, which must have left the context by then. */
  readonly asksFor?: string | undefined;
}
