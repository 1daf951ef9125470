import { HoldfastError, SessionBusyError, type Slot, uuidv7 } from "@holdfast/core";
import { compareSession } from "./compare-session.js";
import { copySession } from "./copy-session.js";
import { inWorkers } from "./in-workers.js";
import { type MigrationReport, ReportBuilder } from "./migration-report.js";
import type { StorePair } from "./open-pair.js";
import { SeenSessions } from "./seen-sessions.js";
import type { SessionOutcome } from "./session-outcome.js";
import { type SessionFilter, sessionsToMigrate } from "./sessions-to-migrate.js";
import { isOutage, withRetries } from "./with-retries.js";

/** Copy; or compare and write nothing, to say what would be copied or whether everything is there. */
export type MigrationMode = "copy" | "dry-run" | "verify";

/** How a {@link Migration} goes about it. */
export interface MigrationOptions {
  readonly filter: SessionFilter;
  /** Sessions worked on at a time. */
  readonly concurrency: number;
  /** Most passes over the source: each copies what changed since the one before, until one finds nothing. */
  readonly passes: number;
  readonly mode: MigrationMode;
  /** How long to wait, at the end of a pass, for sessions that are in use on the target. */
  readonly busyWaitMs: number;
  /** Stops between sessions. */
  readonly signal: AbortSignal;
  onEvent(event: MigrationEvent): void;
}

/** What a migration tells of its course. */
export type MigrationEvent =
  | { readonly type: "sessions"; readonly pass: number; readonly sessions: number }
  | { readonly type: "done"; readonly pass: number; readonly done: number; readonly bytes: number }
  | {
      readonly type: "outcome";
      readonly pass: number;
      readonly outcome: SessionOutcome;
      /** It is not on the target as it should be. */
      readonly isProblem: boolean;
    };

/** So many sessions in a row that a store did not answer for are the store's fault. */
const MOST_OUTAGES = 3;

/**
 * Copies every session of a store to another while both are in use.
 *
 * It keeps no journal: what is on the target is found out by looking, so a run that was killed is begun again.
 */
export class Migration {
  readonly #pair: StorePair;
  readonly #options: MigrationOptions;
  readonly #seen: SeenSessions;
  readonly #report = new ReportBuilder();
  #pass = 0;
  #done = 0;
  /** Sessions in a row that a store did not answer for. */
  #outages = 0;

  constructor(pair: StorePair, options: MigrationOptions) {
    this.#pair = pair;
    this.#options = options;
    this.#seen = new SeenSessions(pair.source);
  }

  /** @throws StoreError when a store cannot be reached; what was done until then stays */
  async run(): Promise<MigrationReport> {
    const { mode, signal } = this.#options;
    const passes = mode === "copy" ? this.#options.passes : 1;
    while (this.#pass < passes && !signal.aborted) {
      this.#pass++;
      await this.#runPass();
      // The first pass has found what there is; the next ones find what has changed since.
      if (this.#pass > 1 && this.#report.changingSessions === 0) break;
    }
    return this.#report.report(signal.aborted);
  }

  async #runPass(): Promise<void> {
    const { concurrency, filter, signal } = this.#options;
    this.#report.startPass();
    this.#done = 0;
    const busy: Slot[] = [];
    for await (const slots of sessionsToMigrate(this.#pair.source, filter, signal)) {
      if (signal.aborted) return;
      const sessions = this.#done + slots.length;
      this.#options.onEvent({ type: "sessions", pass: this.#pass, sessions });
      await inWorkers(slots, concurrency, signal, async (slot) => {
        if (!(await this.#visit(slot, 0))) busy.push(slot);
        else this.#tick();
      });
    }
    await inWorkers(busy, concurrency, signal, async (slot) => {
      await this.#visit(slot, this.#options.busyWaitMs);
      this.#tick();
    });
  }

  /** Whether it could be worked on; false when it is in use and is not to be waited for. */
  async #visit(slot: Slot, waitMs: number): Promise<boolean> {
    const outcome = await this.#outcomeOf(slot, waitMs);
    if (outcome?.kind === "busy" && waitMs === 0 && this.#options.busyWaitMs > 0) return false;
    if (outcome !== null) this.#take(outcome);
    return true;
  }

  /** Null when it has not changed since the pass before. */
  async #outcomeOf(slot: Slot, waitMs: number): Promise<SessionOutcome | null> {
    const { signal } = this.#options;
    try {
      const outcome = await withRetries(() => this.#attempt(slot, waitMs), signal);
      this.#outages = 0;
      return outcome;
    } catch (error) {
      if (SessionBusyError.is(error))
        return { kind: "busy", slot, reason: "it is in use on the target" };
      // A session that cannot be read or written is no reason not to go on; a store that is not there is.
      if (!HoldfastError.is(error)) throw error;
      if (isOutage(error)) await this.#checkOutage(error);
      return { kind: "failed", slot, reason: `${error.code}: ${error.message}` };
    }
  }

  async #attempt(slot: Slot, waitMs: number): Promise<SessionOutcome | null> {
    const { mode, signal } = this.#options;
    if (!(await this.#seen.hasChanged(slot))) return null;
    return mode === "copy"
      ? copySession(this.#pair, slot, { waitMs, signal })
      : this.#compare(slot);
  }

  /**
   * A file that cannot be read is an outage too; it ends the run when the stores do not answer for others either.
   *
   * @throws HoldfastError the outage
   */
  async #checkOutage(outage: HoldfastError): Promise<void> {
    if (++this.#outages >= MOST_OUTAGES) throw outage;
    const nobody = { agentId: "migrate", userId: null, sessionId: uuidv7() };
    const { source, target } = this.#pair;
    await Promise.all([source.stateStore.load(nobody), target.stateStore.load(nobody)]);
  }

  async #compare(slot: Slot): Promise<SessionOutcome> {
    const first = await compareSession(this.#pair, slot);
    // One that was written to in between is looked at again.
    return this.#isProblem(first) ? compareSession(this.#pair, slot) : first;
  }

  #take(outcome: SessionOutcome): void {
    const { slot, summary } = outcome;
    const isProblem = this.#isProblem(outcome);
    const isThere = summary !== undefined && !isProblem && outcome.kind !== "ahead";
    const before = isThere ? this.#seen.copied(slot, summary) : undefined;
    if (!isThere && outcome.kind !== "gone") this.#seen.settle(slot);
    this.#report.add(outcome, isProblem, before);
    const isChange = outcome.kind === "copied" || outcome.kind === "updated";
    if (outcome.isMoving || (isChange && this.#pass > 1)) this.#report.changing(slot);
    this.#options.onEvent({ type: "outcome", pass: this.#pass, outcome, isProblem });
  }

  /** Whether a session is not on the target as it should be by now. */
  #isProblem({ kind }: SessionOutcome): boolean {
    if (kind === "missing" || kind === "behind") return this.#options.mode === "verify";
    return kind === "conflict" || kind === "mismatch" || kind === "busy" || kind === "failed";
  }

  #tick(): void {
    this.#done++;
    const { bytes } = this.#report;
    this.#options.onEvent({ type: "done", pass: this.#pass, done: this.#done, bytes });
  }
}
