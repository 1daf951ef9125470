import { isRecord } from "../../json/json.js";
import type { AgentStateStore } from "../../ports/agent-state-store.js";
import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";
import { slotText } from "../../slot/slot.js";
import { forkIdOf } from "./fork-id.js";
import {
  type EndSign,
  isInput,
  messagePlace,
  OutcomeSigns,
  repairerOf,
  runIdOf,
} from "./outcome-signs.js";

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
 * - A `call_end` mark that names the revision of its save counts once that revision is known to have been stored: a later
 *   mark names it, or the state does. Other marks were saved together with the state, or count when the run that wrote them
 *   was saved.
 * - When a run ended by itself and was saved, that is its outcome, whatever others say.
 * - Otherwise the last mark counts: the run was taken back, or others tell what became of it. A run that is taken back by a
 *   merge leaves in the session what another had taken in of its input before.
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
    if (found.ofInput && isInput(record)) return found.ofInput;
    const place = messagePlace(record);
    const { kept = Number.POSITIVE_INFINITY, outcome } = found;
    const isKept = place === undefined || place < kept;
    return isKept || isDiscarded(outcome) ? outcome : "unsaved";
  }

  async #search(slot: Slot, signs: OutcomeSigns, run: SearchedRun): Promise<FoundOutcome> {
    const { ends, stored } = await readEnds(signs, run);
    const keptInLog = keptOutcome(ends, ({ revision = "" }) => stored.has(revision));
    if (keptInLog) return { outcome: keptInLog };
    // A run makes its last save once.
    const last = ends.find(({ isOwn, revision = "" }) => isOwn && stored.has(revision));
    const isOpen = ({ isOwn, revision }: SeenEnd) =>
      revision !== undefined && !stored.has(revision) && !(isOwn && last);
    const open = ends.findLast(isOpen);
    if (open && (await this.#lookAgain(slot, signs, open.seq)))
      return this.#search(slot, signs, run);
    const isStored = (end: SeenEnd) =>
      stored.has(end.revision ?? "") ||
      (isOpen(end) && this.#holds(slot, ({ revisions }) => revisions.includes(end.revision)));
    const kept = keptOutcome(ends, isStored);
    if (kept) return { outcome: kept };
    let found: FoundOutcome | null = null;
    for (const end of ends) {
      const { isOwn, isUnsaved, outcome, revision, by = "", seq } = end;
      // Its own rolling back is final: only another that has its words can say more.
      if (isOwn && (isUnsaved || outcome !== "rolled_back")) continue;
      const writer = { runId: by, callId: by, seq };
      const wasSaved =
        revision === undefined
          ? isOwn || (await this.#wasSaved(slot, signs, writer))
          : isStored(end);
      if (wasSaved) found = isOwn ? takenBack(end, found) : asTold(end);
    }
    if (found) return found;
    const unsaved = ends.findLast(({ isOwn, isUnsaved }) => isOwn && isUnsaved);
    if (unsaved) return asTold(unsaved);
    if (!ends.some(({ isOwn }) => isOwn)) return { outcome: null };
    const isUnderWay = this.#holds(slot, ({ runId }) => runId === run.runId);
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

/** Knowledge about the end of a run. */
interface FoundOutcome {
  readonly outcome: RunOutcome | null;
  /** Outcome of the run's input, where another run had taken it in before the run was taken back. */
  readonly ofInput?: RunOutcome | undefined;
  /** Number of messages that a run which died or could not save its end had saved. */
  readonly kept?: number | undefined;
  /** The run died, or failed, before anything of it was saved. */
  readonly hasSavedNothing?: boolean | undefined;
}

/** End that the log tells of a run. */
interface SeenEnd extends EndSign {
  readonly seq: number;
  /** The run says so itself. */
  readonly isOwn: boolean;
  /** Revision of the save that makes it true; none where the mark was saved together with the state. */
  readonly revision: string | undefined;
}

/** Reads what the log tells of a run's end, oldest first, and the revisions that it shows to have been stored. */
async function readEnds(
  signs: OutcomeSigns,
  { runId, callId, seq }: SearchedRun,
): Promise<{ readonly ends: readonly SeenEnd[]; readonly stored: ReadonlySet<string> }> {
  const ends: SeenEnd[] = [];
  const stored = new Set<string>();
  let isPastAnother = false;
  let [seen, late] = [0, 0];
  for (let stretch = await signs.behind(seq); stretch.length > 0; ) {
    for (const sign of stretch) {
      const { end, isMessage, isOfCall } = sign;
      if (++seen > MAX_RECORDS || (isPastAnother && ++late > MAX_LATE_RECORDS))
        return { ends, stored };
      for (const revision of end?.stored ?? []) stored.add(revision);
      if (provenEnd(ends, ({ revision = "" }) => stored.has(revision))) return { ends, stored };
      if (isOfCall ? sign.callId === callId : sign.runId === runId) {
        const isOwn = end?.by === undefined || end.by === runId;
        const revision = isOwn ? end?.to : end?.with;
        if (end) ends.push({ ...end, seq: sign.seq, isOwn, revision });
        // A log of another writer has no ids of runs: messages behind the end of a call are another run's.
        if (runId === callId && isMessage && ends.some(isSavedWithState)) return { ends, stored };
      } else if (end) isPastAnother = true;
    }
    stretch = await signs.behind(stretch.at(-1)?.seq ?? seq);
  }
  return { ends, stored };
}

function isSavedWithState({ isOwn, isUnsaved, revision }: SeenEnd): boolean {
  return isOwn && !isUnsaved && revision === undefined;
}

function provenEnd(
  ends: readonly SeenEnd[],
  isStored: (end: SeenEnd) => boolean,
): SeenEnd | undefined {
  return ends.find(
    (end) =>
      end.isOwn && end.revision !== undefined && end.outcome !== "rolled_back" && isStored(end),
  );
}

/** Returns the outcome of a run that ended by itself and was not taken back; null when there is none. */
function keptOutcome(
  ends: readonly SeenEnd[],
  isStored: (end: SeenEnd) => boolean,
): CallOutcome | null {
  const proven = provenEnd(ends, isStored);
  if (proven) return proven.outcome;
  const together = ends.filter(isSavedWithState);
  const isTakenBack = together.some(({ outcome }) => outcome === "rolled_back");
  return isTakenBack ? null : (together.at(-1)?.outcome ?? null);
}

/** A run that is taken back by a merge leaves in the session what another run had taken in of it. */
function takenBack({ outcome, isMerged }: SeenEnd, before: FoundOutcome | null): FoundOutcome {
  const ofInput = before?.ofInput ?? before?.outcome;
  return isMerged && ofInput && !isDiscarded(ofInput) ? { outcome, ofInput } : { outcome };
}

function asTold({ outcome, kept, isUnsaved }: SeenEnd): FoundOutcome {
  return { outcome, kept, hasSavedNothing: isUnsaved };
}

/** A state, and the last record that had been read when it was loaded. */
interface StoredView {
  readonly seq: number;
  readonly lineage: StoredLineage | null;
}

/** Origin of a stored state, by its own account. */
interface StoredLineage {
  /** Its revision, those of the ends that it goes back to, and the id of the fork that it began as. */
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
    revisions: [loaded.revision, ...(Array.isArray(ends) ? ends : []), ...forkIdOf(loaded.head)],
    runId: typeof runId === "string" ? runId : undefined,
  };
}

const discarded = new Set<RunOutcome>(["conflict", "rolled_back", "unsaved", "unsettled"]);

/** Tells whether the messages of a run with this outcome are no part of the session, or not yet. */
export function isDiscarded(outcome: RunOutcome | null): boolean {
  return outcome !== null && discarded.has(outcome);
}
