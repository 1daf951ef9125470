import { StateConflictError } from "../../../errors/store-errors.js";
import type { Revision } from "../../../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../../../slot/slot.js";
import { headBefore } from "../../../state/head-undo.js";
import { withBlobs } from "../../../store-kit/log/with-blobs.js";
import type { AgentParts } from "../../assemble/agent-parts.js";
import type { CallScope } from "../../call-scope.js";
import { saveSession } from "../../save/save-session.js";
import { type OpenSession, stillHolds } from "../open-session.js";
import { factsOf, noteFork } from "../session-facts.js";
import { copyLog } from "./copy-log.js";
import { type ForkSource, readForkSource } from "./fork-source.js";
import { type ForkTurns, forkTurns } from "./fork-turns.js";

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
  const origin = { sessionId: from.sessionId, ...(turns.at !== undefined && { at: turns.at }) };
  await copyLog(scope, from, { ...turns, origin });
  fillState(parts, session, source, turns);
  noteFork(session.state, { ...origin, id: session.run.runId });
  session.mark({ name: "fork_end", details: origin });
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
  if (!["fork_start", "fork_end"].includes(first.mark?.name ?? "")) throw exists(slot, null);
  // Past the lease it may be the log of another process that makes the same fork.
  if (!(await stillHolds(lease))) throw session.leaseLost();
  // Left by a fork whose process died before it had saved the state, or that could not save it.
  await log.delete(slot);
}

function exists(slot: Slot, storedRevision: Revision | null): StateConflictError {
  return new StateConflictError(
    `${describeSlot(slot)} exists, and a fork makes a new session: name another one with "as", leave "as" out for a new id, or remove this one with deleteSession`,
    { storedRevision },
  );
}

/** Gives the new session the context and the sections of the source, but nothing of its runs. */
function fillState(
  { pluginStates }: AgentParts,
  { slot, state }: OpenSession,
  { state: from }: ForkSource,
  { context, isWhole }: ForkTurns,
): void {
  const { title } = factsOf(from);
  const { permissionContext, planModeContext } = from;
  if (from.unfinishedRun) from.restoreHead(headBefore(from.head(), from.unfinishedRun));
  // As they are now: the seal of the source, if it has one, vouches for these only.
  Object.assign(from, { permissionContext, planModeContext });
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
