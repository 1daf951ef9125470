import type { Slot } from "@holdfast/core";
import type { SessionSummary } from "../transfer/session-digest.js";
import type { OutcomeKind, SessionOutcome } from "./session-outcome.js";

/** Sums over sessions that were read back from the target and are right. */
export interface VerifiedTotals {
  readonly sessions: number;
  readonly messages: number;
  readonly records: number;
  readonly blobs: number;
  readonly bytes: number;
}

/** What came of a migration. */
export interface MigrationReport {
  /** How often each outcome was met, over all passes. */
  readonly outcomes: Readonly<Record<OutcomeKind, number>>;
  readonly verified: VerifiedTotals;
  readonly passes: number;
  /** The sessions that are not as they should be, with the reason; at most {@link MOST_LISTED}. */
  readonly problems: readonly SessionOutcome[];
  /** The sessions that were still written to in the last pass; at most {@link MOST_LISTED}. */
  readonly changing: readonly Slot[];
  readonly changingSessions: number;
  /** It was stopped early. */
  readonly isInterrupted: boolean;
}

/** More are counted and not listed. */
export const MOST_LISTED = 1_000;

/** Adds up outcomes. */
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
  #passes = 0;

  get bytes(): number {
    return this.#verified.bytes;
  }

  /** @param before - what the session amounted to in an earlier pass */
  add(outcome: SessionOutcome, isProblem: boolean, before?: SessionSummary): void {
    this.#outcomes[outcome.kind]++;
    if (isProblem && this.#problems.length < MOST_LISTED) this.#problems.push(outcome);
    const { kind, summary } = outcome;
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

  /** The session changed in this pass. */
  changing(slot: Slot): void {
    this.#changingSessions++;
    if (this.#changing.length < MOST_LISTED) this.#changing.push(slot);
  }

  /** How many sessions changed in this pass. */
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
      isInterrupted,
    };
  }
}
