import { isRecord } from "../../json/json.js";
import type { AgentStateStore } from "../../ports/agent-state-store.js";
import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";
import { slotText } from "../../slot/slot.js";
import { type EndSign, messagePlace, OutcomeSigns, repairerOf, runIdOf } from "./outcome-signs.js";

/** Records searched for the end of a run; a longer run counts as unfinished. */
const MAX_RECORDS = 20_000;
/** Records searched behind the end of another run: runs that overlapped may have interleaved records. */
const MAX_LATE_RECORDS = 100;

/** Sources that {@link CallOutcomes} asks about ends that the log alone does not prove. */
export interface OutcomeSources {
  /** Store of the sessions' states. @default none: the last end of a log is believed */
  readonly stateStore?: Pick<AgentStateStore, "load"> | undefined;
  /** Agent of the store. Sessions of other agents may have their states elsewhere: without one here, they are believed. */
  readonly agentId?: string | undefined;
}

/**
 * Outcome of a run for readers of the log.
 *
 * - `unsaved`: its end was logged, but the save that was to follow never happened.
 * - `unsettled`: its end was logged, and the save is being made or its process died. It becomes one of the others.
 */
export type RunOutcome = CallOutcome | "unsaved" | "unsettled";

/**
 * Finds the outcomes of runs from the records of a log.
 *
 * - A `call_end` mark that names the revision its save was to produce counts once that revision is known to have been stored:
 *   a later run started from it, or the state holds it. Such a mark is the run's outcome, whatever others say.
 * - Of the marks that were saved together with the state the last one counts, but `rolled_back` is final.
 * - A mark written for a run that died counts when the run which wrote it was saved.
 * - What a run says that could not be saved counts when there is nothing else.
 */
export class CallOutcomes {
  readonly #log: Pick<ConversationLog, "read">;
  readonly #sources: OutcomeSources;
  readonly #signs = new Map<string, OutcomeSigns>();
  readonly #stored = new Map<string, StoredView>();

  constructor(log: Pick<ConversationLog, "read">, sources: OutcomeSources = {}) {
    this.#log = log;
    this.#sources = sources;
  }

  /** Returns the outcome of a record's run; null when it has none because it still runs or crashed. */
  async of(slot: Slot, record: LogRecord): Promise<RunOutcome | null> {
    const key = slotText(slot);
    const signs = this.#signs.get(key) ?? new OutcomeSigns(this.#log, slot);
    this.#signs.set(key, signs);
    const { callId, seq } = record;
    const writer = repairerOf(record);
    if (writer !== undefined) {
      const repairer = { runId: writer, callId: writer, seq };
      if (!(await this.#wasSaved(slot, signs, repairer))) return "unsaved";
    }
    const run = { runId: runIdOf(record), callId, seq };
    const found = await this.#search(slot, signs, run);
    const place = messagePlace(record);
    const { kept = Number.POSITIVE_INFINITY, outcome } = found;
    const isKept = place === undefined || place < kept;
    return isKept || isDiscarded(outcome) ? outcome : "unsaved";
  }

  async #search(slot: Slot, signs: OutcomeSigns, run: SearchedRun): Promise<FoundOutcome> {
    const { runId, callId, seq } = run;
    const claims: EndSign[] = [];
    let claimedAt = 0;
    let saved: CallOutcome | null = null;
    let unsaved: EndSign | null = null;
    let byAnother: EndSign | null = null;
    let isPastAnother = false;
    let [seen, late] = [0, 0];
    reading: for (let stretch = await signs.behind(seq); stretch.length > 0; ) {
      for (const sign of stretch) {
        if (++seen > MAX_RECORDS || (isPastAnother && ++late > MAX_LATE_RECORDS)) break reading;
        const { end } = sign;
        const proven = end && claims.find(({ to = "" }) => end.stored.includes(to));
        if (proven) return { outcome: proven.outcome };
        if (sign.runId === runId || (sign.isOfCall && sign.callId === callId)) {
          if (end?.to !== undefined) {
            claims.push(end);
            claimedAt = sign.seq;
          } else if (end?.by !== undefined && end.by !== runId) {
            const writer = { runId: end.by, callId: end.by, seq: sign.seq };
            if (await this.#wasSaved(slot, signs, writer)) byAnother = end;
          } else if (end?.isUnsaved) unsaved = end;
          else if (end && saved !== "rolled_back") saved = end.outcome;
          // A log of another writer has no ids of runs: messages behind the end of a call are another run's.
          if (runId === callId && sign.isMessage && saved !== null) break reading;
        } else if (end) isPastAnother = true;
      }
      stretch = await signs.behind(stretch.at(-1)?.seq ?? seq);
    }
    if (claims.length > 0 && (await this.#lookAgain(slot, signs, claimedAt)))
      return this.#search(slot, signs, run);
    for (const { to, outcome } of claims)
      if (this.#holds(slot, ({ revisions }) => revisions.includes(to ?? ""))) return { outcome };
    if (saved) return { outcome: saved };
    const said = byAnother ?? unsaved;
    if (said) return { outcome: said.outcome, kept: said.kept, hasSavedNothing: said.isUnsaved };
    if (claims.length === 0) return { outcome: null };
    const isUnderWay = this.#holds(slot, (stored) => stored.runId === runId);
    return { outcome: isUnderWay ? "unsettled" : "unsaved" };
  }

  /** Tells whether anything of a run was saved. */
  async #wasSaved(slot: Slot, signs: OutcomeSigns, writer: SearchedRun): Promise<boolean> {
    const { outcome, hasSavedNothing } = await this.#search(slot, signs, writer);
    const isSaved = outcome !== null && (outcome === "rolled_back" || !isDiscarded(outcome));
    if (isSaved && !hasSavedNothing) return true;
    if (await this.#lookAgain(slot, signs, writer.seq)) return this.#wasSaved(slot, signs, writer);
    return this.#holds(slot, (stored) => stored.runId === writer.runId);
  }

  /**
   * Loads the state, unless that was done after the record with this seq was read. A run logs its end before it saves it, so
   * only records that are read after the state show what was saved before it: the log is to be searched again.
   *
   * @returns whether the state was loaded
   */
  async #lookAgain(slot: Slot, signs: OutcomeSigns, seq: number): Promise<boolean> {
    const { stateStore } = this.#sources;
    const key = slotText(slot);
    if (!stateStore || (this.#stored.get(key)?.seq ?? -1) >= seq) return false;
    const last = Math.max(signs.last, seq);
    this.#stored.set(key, { seq: last, lineage: await lineageOf(stateStore, slot) });
    signs.readOn();
    return true;
  }

  #holds(slot: Slot, check: (stored: StoredLineage) => boolean): boolean {
    const { stateStore, agentId } = this.#sources;
    if (!stateStore) return true;
    const lineage = this.#stored.get(slotText(slot))?.lineage ?? null;
    if (lineage === null) return agentId !== undefined && agentId !== slot.agentId;
    return check(lineage);
  }
}

/** A run, and the record behind which its end is searched. */
interface SearchedRun {
  readonly runId: string;
  readonly callId: string;
  readonly seq: number;
}

interface FoundOutcome {
  readonly outcome: RunOutcome | null;
  /** Number of messages that a run which died or could not save its end had saved. */
  readonly kept?: number | undefined;
  /** The run died, or failed, before anything of it was saved. */
  readonly hasSavedNothing?: boolean | undefined;
}

/** A state, and the last record that had been read when it was loaded. */
interface StoredView {
  readonly seq: number;
  readonly lineage: StoredLineage | null;
}

/** Origin of a stored state, by its own account. */
interface StoredLineage {
  /** Its revision, and those of the ends that it goes back to. */
  readonly revisions: readonly unknown[];
  /** Run that saved it and has not ended. */
  readonly runId: string | undefined;
}

async function lineageOf(
  states: Pick<AgentStateStore, "load">,
  slot: Slot,
): Promise<StoredLineage | null> {
  const loaded = await states.load(slot);
  if (loaded === null || loaded === "unchanged") return null;
  const run = loaded.head["unfinishedRun"];
  const { runId } = isRecord(run) ? run : {};
  const ends = loaded.head["lastEnds"];
  return {
    revisions: [loaded.revision, ...(Array.isArray(ends) ? ends : [])],
    runId: typeof runId === "string" ? runId : undefined,
  };
}

const discarded = new Set<RunOutcome>(["conflict", "rolled_back", "unsaved", "unsettled"]);

/** Tells whether the messages of a run with this outcome are no part of the session, or not yet. */
export function isDiscarded(outcome: RunOutcome | null): boolean {
  return outcome !== null && discarded.has(outcome);
}
