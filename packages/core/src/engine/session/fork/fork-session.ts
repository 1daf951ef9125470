import { StateConflictError } from "../../../errors/store-errors.js";
import type { Revision } from "../../../ports/agent-state-store.js";
import type { LogDraft } from "../../../ports/conversation-log.js";
import { describeSlot, type Slot } from "../../../slot/slot.js";
import { repairerOf, runIdOf } from "../../../store-kit/log/outcome-signs.js";
import { withBlobs } from "../../../store-kit/log/with-blobs.js";
import { retryWrite } from "../../../store-kit/save-with-retry.js";
import type { AgentParts } from "../../assemble/agent-parts.js";
import type { CallScope } from "../../call-scope.js";
import { saveSession } from "../../save/save-session.js";
import type { OpenSession } from "../open-session.js";
import { factsOf, noteFork } from "../session-facts.js";
import { type ForkSource, hasRun, readForkSource } from "./fork-source.js";
import { type ForkTurns, forkTurns } from "./fork-turns.js";

/** Records and characters appended at a time. */
const BATCH_RECORDS = 100;
const BATCH_CHARS = 1_000_000;

/**
 * Makes the open session, which must be new, a fork of another: first its log, then its state. The ends of the copied runs
 * name the fork, and readers believe them once the state does: a log without its state is hidden, and the next fork of the
 * same name begins anew.
 *
 * @param at - position in the log, or id of a message; undefined for the end
 * @throws StateConflictError when the session exists
 * @throws InvalidInputError when there is no such source or position
 */
export async function forkSession(
  scope: CallScope,
  from: Slot,
  at: number | string | undefined,
): Promise<void> {
  const { parts, session } = scope;
  const { log, settings } = parts;
  await refuseExisting(parts, session);
  const source = await readForkSource(parts, from);
  const turns = await forkTurns(source, {
    at,
    messageBytes: settings.limits.messageBytes,
    whole: (record) => withBlobs(log, from, record),
  });
  const details = { sessionId: from.sessionId, ...(turns.at !== undefined && { at: turns.at }) };
  await copyLog(scope, draftsOf(scope, from, turns, details));
  fillState(parts, session, source, turns);
  noteFork(session.state, { ...details, id: session.run.runId });
  session.mark({ name: "fork_end", details });
  await saveSession(scope, { final: true, outcome: "committed", isNew: true });
  scope.emit({ type: "session_forked", from: from.sessionId, messages: turns.context.length });
}

/** @throws StateConflictError */
async function refuseExisting(
  { log, stateStore }: AgentParts,
  session: OpenSession,
): Promise<void> {
  const { slot, revision, lease } = session;
  if (revision !== null) throw exists(slot, revision);
  const words = lease.inbox ?? (await stateStore.inbox?.read(slot)) ?? [];
  if (words.length > 0) throw exists(slot, null);
  const [first] = await log.read(slot, { after: 0, limit: 1 });
  if (first === undefined) return;
  if (first.mark?.name !== "fork_start") throw exists(slot, null);
  // Left by a fork whose process died before it had saved the state.
  await log.delete(slot);
}

function exists(slot: Slot, storedRevision: Revision | null): StateConflictError {
  return new StateConflictError(
    `${describeSlot(slot)} exists, and a fork makes a new session: name another one with "as", leave "as" out for a new id, or remove this one with deleteSession`,
    { storedRevision },
  );
}

/** Yields the log of the fork: where it comes from, then the records with an end behind the last one of each run. */
async function* draftsOf(
  { parts, session }: CallScope,
  from: Slot,
  { records }: ForkTurns,
  details: NonNullable<LogDraft["mark"]>["details"],
): AsyncGenerator<LogDraft> {
  const { runId: fork, callId } = session.run;
  const mark = { name: "fork_start", details };
  const start = { id: `${fork}.fork_start`, callId, at: parts.now().toISOString() };
  yield { v: 1, ...start, kind: "mark", mark };
  const last = new Map(records.map(({ record }) => [runIdOf(record), record.seq]));
  for (const { record, outcome } of records) {
    const { seq, blobs: _, ...draft } = await withBlobs(parts.log, from, record);
    const run = runIdOf(record);
    // The id of a repair names the run that made it, which the fork may not have.
    yield repairerOf(record) === undefined ? draft : { ...draft, id: `${run}.fork.${seq}` };
    if (last.get(run) !== seq) continue;
    const id = hasRun(record) ? `${run}.end.${outcome}.${fork}` : `fork.${fork}.end.${seq}`;
    const end = { name: "call_end", outcome, details: { to: fork } };
    yield { v: 1, id, callId: record.callId, at: record.at, kind: "mark", mark: end };
  }
}

async function copyLog(scope: CallScope, drafts: AsyncIterable<LogDraft>): Promise<void> {
  const { parts, session, stop } = scope;
  let batch: LogDraft[] = [];
  let chars = 0;
  const append = async (): Promise<void> => {
    stop.check();
    await session.settleLease();
    if (!session.holdsLease()) throw session.leaseLost();
    const records = batch;
    batch = [];
    chars = 0;
    await retryWrite(session.slot, () => parts.log.append(session.slot, records), {
      deadlineMs: parts.settings.saveDeadlineMs,
    });
  };
  for await (const draft of drafts) {
    batch.push(draft);
    chars += JSON.stringify(draft).length;
    if (batch.length === BATCH_RECORDS || chars >= BATCH_CHARS) await append();
  }
  if (batch.length > 0) await append();
}

/** Gives the new session the context and the sections of the source, but nothing of its runs. */
function fillState(
  { pluginStates }: AgentParts,
  { slot, state }: OpenSession,
  { state: from }: ForkSource,
  { context, isWhole }: ForkTurns,
): void {
  const { title } = factsOf(from);
  if (from.unfinishedRun) from.restoreHead(from.unfinishedRun.before);
  from.openCalls = {};
  from.shutdownInterrupted = false;
  from.finishedCalls = [];
  from.unfinishedRun = null;
  from.lastEnds = [];
  from.resumableRun = null;
  // A list of an earlier time is not kept, and that of now tells of what came later.
  if (!isWhole) from.tasksContext = { tasks: [] };
  const isCopied = ([plugin]: readonly [string, unknown]) =>
    pluginStates.get(plugin)?.forks !== false;
  from.extensions = Object.fromEntries(Object.entries(from.extensions).filter(isCopied));
  state.restoreHead({ ...from.head(), sessionId: slot.sessionId, userId: slot.userId });
  state.contextMutable().replaceAll(context);
  state.listedTitle = title;
}
