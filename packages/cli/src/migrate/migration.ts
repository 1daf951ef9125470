import { HoldfastError, SessionBusyError, type Slot } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { compareSession } from "./compare-session.js";
import { copySession } from "./copy-session.js";
import { inWorkers } from "./in-workers.js";
import { type MigrationReport, ReportBuilder } from "./migration-report.js";
import type { StorePair } from "./open-pair.js";
import { SeenSessions } from "./seen-sessions.js";
import type { SessionOutcome } from "./session-outcome.js";
import { type SessionFilter, sessionsToMigrate } from "./sessions-to-migrate.js";
import { isOutage, withRetries } from "./with-retries.js";

/** Copy; or compare without writing, to report what would be copied (`dry-run`) or whether all is there (`verify`). */
export type MigrationMode = "copy" | "dry-run" | "verify";

/** Options of a {@link Migration}. */
export interface MigrationOptions {
  readonly filter: SessionFilter;
  /** Sessions copied at the same time. */
  readonly concurrency: number;
  /** Maximum number of passes: each copies what changed since the previous one, until a pass finds nothing. */
  readonly passes: number;
  readonly mode: MigrationMode;
  /** Time to wait, at the end of a pass, for sessions in use on the target. */
  readonly busyWaitMs: number;
  /** Stops between sessions. */
  readonly signal: AbortSignal;
  onEvent(event: MigrationEvent): void;
}

/** Progress event of a migration. */
export type MigrationEvent =
  | { readonly type: "sessions"; readonly pass: number; readonly sessions: number }
  | { readonly type: "done"; readonly pass: number; readonly done: number; readonly bytes: number }
  | {
      readonly type: "outcome";
      readonly pass: number;
      readonly outcome: SessionOutcome;
      /** The session is not on the target as it should be. */
      readonly isProblem: boolean;
    };

/** Consecutive sessions with an outage after which the store is considered unavailable. */
const MOST_OUTAGES = 3;

/**
 * Copies every session of a store to another while both are in use.
 *
 * It keeps no journal: what is on the target is found by reading it, so a killed run is simply started again.
 */
export class Migration {
  readonly #pair: StorePair;
  readonly #options: MigrationOptions;
  readonly #seen: SeenSessions;
  readonly #report = new ReportBuilder();
  #pass = 0;
  #done = 0;
  /** Consecutive sessions with an outage. */
  #outages = 0;

  constructor(pair: StorePair, options: MigrationOptions) {
    this.#pair = pair;
    this.#options = options;
    this.#seen = new SeenSessions(pair.source);
  }

  /** @throws StoreError when a store cannot be reached; sessions copied until then are kept */
  async run(): Promise<MigrationReport> {
    const { mode, signal } = this.#options;
    const passes = mode === "copy" ? this.#options.passes : 1;
    while (this.#pass < passes && !signal.aborted) {
      this.#pass++;
      await this.#runPass();
      // The first pass covers everything; later ones cover what changed since.
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

  /** Copies a session; false when it is in use and not to be waited for. */
  async #visit(slot: Slot, waitMs: number): Promise<boolean> {
    const outcome = await this.#outcomeOf(slot, waitMs);
    if (outcome?.kind === "busy" && waitMs === 0 && this.#options.busyWaitMs > 0) return false;
    if (outcome !== null) this.#take(outcome);
    return true;
  }

  /** Null when the session has not changed since the previous pass. */
  async #outcomeOf(slot: Slot, waitMs: number): Promise<SessionOutcome | null> {
    const { signal } = this.#options;
    try {
      const outcome = await withRetries(() => this.#attempt(slot, waitMs), signal);
      this.#outages = 0;
      return outcome;
    } catch (error) {
      if (SessionBusyError.is(error))
        return { kind: "busy", slot, reason: "it is in use on the target" };
      // A session that cannot be read or written does not stop the run; a store that is down does.
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
   * Tells an outage from an unreadable file, which looks the same: asks both stores for a session that does not exist.
   *
   * @throws HoldfastError when a store does not answer, or too many sessions in a row failed
   */
  async #checkOutage(outage: HoldfastError): Promise<void> {
    if (++this.#outages >= MOST_OUTAGES) throw outage;
    const unknown = { agentId: "migrate", userId: null, sessionId: uuidv7() };
    const { source, target } = this.#pair;
    await Promise.all([source.stateStore.load(unknown), target.stateStore.load(unknown)]);
  }

  async #compare(slot: Slot): Promise<SessionOutcome> {
    const first = await compareSession(this.#pair, slot);
    // A session that was written meanwhile is checked again.
    return this.#isProblem(first) ? compareSession(this.#pair, slot) : first;
  }

  #take(outcome: SessionOutcome): void {
    const { slot, summary } = outcome;
    const isProblem = this.#isProblem(outcome);
    const isThere = summary !== undefined && !isProblem && outcome.kind !== "ahead";
    const before = isThere ? this.#seen.copied(outcome, summary) : undefined;
    if (!isThere && outcome.kind !== "gone") this.#seen.settle(slot);
    this.#report.add(outcome, isProblem, before);
    const isChange = outcome.kind === "copied" || outcome.kind === "updated";
    if (outcome.isMoving || (isChange && this.#pass > 1)) this.#report.changing(slot);
    this.#options.onEvent({ type: "outcome", pass: this.#pass, outcome, isProblem });
  }

  /** Returns whether a session is not on the target as it should be. */
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
