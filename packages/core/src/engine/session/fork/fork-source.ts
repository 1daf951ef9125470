import { setImmediate } from "node:timers/promises";
import { InvalidInputError, SessionBusyError } from "../../../errors/errors.js";
import type { LoadedState } from "../../../ports/agent-state-store.js";
import type { CallOutcome, LogRecord } from "../../../ports/conversation-log.js";
import { describeSlot, type Slot } from "../../../slot/slot.js";
import type { LiveState } from "../../../state/live-state.js";
import { loadWhole } from "../../../store-kit/load-whole.js";
import { CallOutcomes, isDiscarded } from "../../../store-kit/log/call-outcomes.js";
import { sliceLog } from "../../../store-kit/log/log-range.js";
import { runIdOf } from "../../../store-kit/log/outcome-signs.js";
import type { AgentParts } from "../../assemble/agent-parts.js";
import { stateOf } from "../stored-state.js";

/** Reads of a session that changes meanwhile, before the fork gives up. */
const MAX_READS = 10;
/** Records read at a time. */
const PAGE = 100;

/** Records judged before other work may run. */
const YIELD_EVERY = 25;

/** A record that is part of the session, and the outcome of its run. */
export interface KeptRecord {
  readonly record: LogRecord;
  readonly outcome: CallOutcome;
}

/** A session as it was at one moment. */
export interface ForkSource {
  readonly slot: Slot;
  /** State of its own: it may be changed. */
  readonly state: LiveState;
  /** Every position of the log. */
  readonly positions: ReadonlySet<number>;
  /** Messages and marks of the runs that have ended and are part of the session, oldest first. */
  readonly kept: readonly KeptRecord[];
}

/**
 * Reads state and log of a session without its lease, so that a running call does not have to end first.
 *
 * @throws InvalidInputError when there is no such session
 * @throws SessionBusyError when it is saved more often than it can be read
 */
export async function readForkSource(parts: AgentParts, slot: Slot): Promise<ForkSource> {
  const { stateStore, log, seal } = parts;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const loaded = await loadWhole(stateStore, slot);
    if (loaded === null)
      throw new InvalidInputError(
        `there is no ${describeSlot(slot)} to fork; agent.sessions() lists those that have been saved`,
      );
    const records: LogRecord[] = [];
    for (let isWhole = false; !isWhole; ) {
      const page = await log.read(slot, { after: records.at(-1)?.seq ?? 0, limit: PAGE });
      records.push(...page);
      isWhole = page.length < PAGE;
    }
    const later = await stateStore.load(slot, loaded.revision);
    if (later !== "unchanged" && later?.revision !== loaded.revision) continue;
    seal?.check(slot, loaded.head);
    const state = stateOf(slot, loaded);
    const positions = new Set(records.map(({ seq }) => seq));
    const kept = await keptRecords(slot, loaded, records);
    // By its own account it may have failed already: what becomes of it is up to the next call.
    const runId = state.unfinishedRun?.runId;
    const isSettled = ({ record }: KeptRecord) => runIdOf(record) !== runId;
    return { slot, state, positions, kept: kept.filter(isSettled) };
  }
  throw new SessionBusyError(
    `${describeSlot(slot)} was saved again each of the ${MAX_READS} times it was read to be forked; try again`,
  );
}

/** Judges every record by what was read: neither log nor state are asked again. */
async function keptRecords(
  slot: Slot,
  loaded: LoadedState,
  records: readonly LogRecord[],
): Promise<readonly KeptRecord[]> {
  const outcomes = new CallOutcomes(
    { read: async (_, range) => sliceLog(records, range) },
    { stateStore: { load: async () => loaded } },
  );
  const kept: KeptRecord[] = [];
  for (const [index, record] of records.entries()) {
    if (index % YIELD_EVERY === 0) await setImmediate();
    if (isBookkeeping(record)) continue;
    const outcome = await outcomes.of(slot, record);
    if (outcome === "unsaved" || outcome === "unsettled" || isDiscarded(outcome)) continue;
    // Without an end, a run still goes on or died. Messages that belong to no run have none.
    if (outcome === null && (hasRun(record) || record.kind === "mark")) continue;
    kept.push({ record, outcome: outcome ?? "committed" });
  }
  return kept;
}

/** Tells whether a record belongs to a run of the engine, rather than to a call of another writer. */
export function hasRun({ id }: Pick<LogRecord, "id">): boolean {
  return runIdOf({ id, callId: "" }) !== "";
}

/** Marks that say how runs ended, or where a session comes from: a fork has its own. */
function isBookkeeping({ mark }: LogRecord): boolean {
  return mark !== undefined && ["call_end", "fork_start", "fork_end"].includes(mark.name);
}
