import type { Slot } from "@holdfast/core";
import { subagentSession } from "../sessions/subagent-session.js";
import type { SessionSummary } from "../transfer/session-digest.js";
import type { OutcomeKind, SessionOutcome } from "./session-outcome.js";

/** Totals of the sessions that were read back from the target and are equal to the source. */
export interface VerifiedTotals {
  readonly sessions: number;
  readonly messages: number;
  readonly records: number;
  readonly blobs: number;
  readonly bytes: number;
}

/** Result of a migration. */
export interface MigrationReport {
  /** Number of sessions by outcome, over all passes. */
  readonly outcomes: Readonly<Record<OutcomeKind, number>>;
  readonly verified: VerifiedTotals;
  readonly passes: number;
  /** Sessions with a problem; at most {@link MOST_LISTED}. */
  readonly problems: readonly SessionOutcome[];
  /** Sessions that still changed in the last pass; at most {@link MOST_LISTED}. */
  readonly changing: readonly Slot[];
  readonly changingSessions: number;
  /** Sessions of subagents among those that are copied, or would be: records of their tasks are not. */
  readonly subagentSessions: number;
  /** The run was stopped early. */
  readonly isInterrupted: boolean;
}

/** Further sessions are counted and not listed. */
const MOST_LISTED = 1_000;

/** Outcomes of sessions that are copied, or would be. */
const moved: readonly OutcomeKind[] = ["copied", "updated", "missing", "behind"];

/** Collects outcomes. */
export class ReportBuilder {
  readonly #outcomes: Record<OutcomeKind, number> = {
    copied: 0,
    updated: 0,
    present: 0,
    ahead: 0,
    gone: 0,
    missing: 0,
    behind: 0,
    conflict: 0,
    mismatch: 0,
    busy: 0,
    failed: 0,
  };
  readonly #verified = { sessions: 0, messages: 0, records: 0, blobs: 0, bytes: 0 };
  readonly #problems: SessionOutcome[] = [];
  #changing: Slot[] = [];
  #changingSessions = 0;
  #subagentSessions = 0;
  #passes = 0;

  get bytes(): number {
    return this.#verified.bytes;
  }

  /** @param before - summary of the session in an earlier pass */
  add(outcome: SessionOutcome, isProblem: boolean, before?: SessionSummary): void {
    this.#outcomes[outcome.kind]++;
    if (isProblem && this.#problems.length < MOST_LISTED) this.#problems.push(outcome);
    const { kind, summary } = outcome;
    if (moved.includes(kind) && before === undefined && subagentSession(outcome.slot))
      this.#subagentSessions++;
    if (summary === undefined || (kind !== "copied" && kind !== "updated" && kind !== "present"))
      return;
    if (before === undefined) this.#verified.sessions++;
    for (const count of ["messages", "records", "blobs", "bytes"] as const)
      this.#verified[count] += summary[count] - (before?.[count] ?? 0);
  }

  startPass(): void {
    this.#passes++;
    this.#changing = [];
    this.#changingSessions = 0;
  }

  /** Records that a session changed in this pass. */
  changing(slot: Slot): void {
    this.#changingSessions++;
    if (this.#changing.length < MOST_LISTED) this.#changing.push(slot);
  }

  /** Number of sessions that changed in this pass. */
  get changingSessions(): number {
    return this.#changingSessions;
  }

  report(isInterrupted: boolean): MigrationReport {
    return {
      outcomes: { ...this.#outcomes },
      verified: { ...this.#verified },
      passes: this.#passes,
      problems: [...this.#problems],
      changing: [...this.#changing],
      changingSessions: this.#changingSessions,
      subagentSessions: this.#subagentSessions,
      isInterrupted,
    };
  }
}
