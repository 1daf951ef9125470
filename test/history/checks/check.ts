import type { DoneOperation, Operation } from "../operation.js";
import type { SessionRecord } from "../session-record.js";
import type { Trace } from "../trace.js";

/** A finished history, as the checks see it. */
export interface History {
  readonly trace: Trace;
  /** Operations in the order in which they ended. */
  readonly done: readonly DoneOperation[];
  readonly hanging: readonly Operation[];
  /** Nodes that ended by themselves. */
  readonly crashes: readonly string[];
  readonly sessions: readonly SessionRecord[];
  /** Sessions that were compacted. */
  readonly compacted: ReadonlySet<string>;
  /** Times of faults that may keep a node from saving, by the machine's monotonic clock. */
  readonly outages: readonly { readonly start: number; readonly end: number }[];
}

/** Something that should not have happened. */
export interface Violation {
  readonly check: string;
  readonly session: string;
  readonly message: string;
  /** Operations and trace lines that show it. */
  readonly evidence: readonly unknown[];
}

/** Looks for violations of one promise. */
export type Check = (history: History) => readonly Violation[];

/** Finished calls of a session, whichever way they ended. */
export function turnsOf({ done }: History, session: string): DoneOperation[] {
  return done.filter(
    ({ operation: { kind, session: s } }) =>
      s === session && (kind === "call" || kind === "settle" || kind === "resume"),
  );
}

/** Position of a period among the deletions of its session. */
export type Survival = "kept" | "deleted" | "unknown";

/** Tells whether what a session was given in a period is still to be there, given its deletions. */
export function survivalOf(
  { done }: History,
  session: string,
  period: { readonly start: number; readonly end: number },
): Survival {
  let survival: Survival = "kept";
  for (const { operation, start, end, told } of done) {
    if (operation.kind !== "delete" || operation.session !== session) continue;
    if (end < period.start) continue;
    const isCertain = told.lost !== true && told.error === undefined;
    if (isCertain && start > period.end) return "deleted";
    survival = "unknown";
  }
  return survival;
}
