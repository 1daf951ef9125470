import { UnknownOutcomeError } from "../../errors/store-errors.js";
import { describeSlot } from "../../slot/slot.js";
import { withDeadline } from "../../store-kit/deadline.js";
import { inputBody } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import { saveSession } from "./save-session.js";

/** Saves the steps so far, with `persistence: "step"`. */
export async function saveStep(scope: CallScope): Promise<void> {
  if (scope.parts.settings.persistence === "step") await saveNow(scope);
}

/** Saves the steps so far, whatever the persistence. */
export async function saveNow(scope: CallScope): Promise<void> {
  beginUnfinished(scope);
  await saveSession(scope, { final: false });
}

/** Most bytes of input that the head holds until the context has it. */
const MAX_HEAD_INPUT_BYTES = 65_536;

/** Saves the input before the model is asked, for a gate that did not keep it with the lease. @throws StateConflictError */
export async function saveOpening(scope: CallScope): Promise<void> {
  const { parts, session, run, newInput, inputHash } = scope;
  const body = inputBody({
    input: { kind: "messages", messages: newInput, foreignIds: false },
    hash: inputHash,
  });
  const { inbox } = parts.stateStore;
  const fitsHead = Buffer.byteLength(JSON.stringify(body)) <= MAX_HEAD_INPUT_BYTES;
  if (!fitsHead && inbox) {
    const at = parts.now().toISOString();
    session.put.add(run.runId);
    await inbox.put(session.slot, { id: run.runId, kind: "input", callId: run.callId, at, body });
  } else if (!fitsHead) sayInput(scope);
  beginUnfinished(scope);
  const { unfinishedRun } = session.state;
  if (fitsHead && newInput.length > 0 && unfinishedRun)
    session.state.unfinishedRun = { ...unfinishedRun, input: body };
  await saveSession(scope, { final: false, opening: true });
}

/** Puts the input into the context, once; nothing else need keep it any longer then. */
export function sayInput({ session, newInput, run }: CallScope): void {
  for (const message of newInput) if (!session.said.has(message.id)) session.say(message);
  session.taken.add(run.runId);
}

/** Notes in the state which run its saves belong to, until that run ends. */
function beginUnfinished({ session, newInput, inputIds, inputHash, run, named }: CallScope): void {
  const { input } = session.state.unfinishedRun ?? {};
  const isSaid = newInput.every(({ id }) => session.said.has(id));
  session.gather();
  session.state.unfinishedRun = {
    ...run,
    named,
    inputHash,
    inputIds,
    messageIds: session.log.messageIds,
    ...(session.steered.size > 0 && { lastId: session.lastId }),
    before: session.baseHead,
    ...(!isSaid && { inputUnsaid: true, ...(input && { input }) }),
  };
}

/** As long as any command of a store may take. */
const maxWriteAheadMs = 5_000;

/**
 * Writes what the log has not seen yet before the call ends: what has left the context, or never was in it whole, can then
 * be found by the agent's own tools within the same call.
 *
 * Where it fails, nothing is lost: the records are written with the next save. A call that was stopped is being saved, while
 * a compaction that does not heed its signal may still run.
 */
export async function writeAhead({ parts, session, stop }: CallScope): Promise<void> {
  if (stop.kind !== null) return;
  session.gather();
  const drafts = session.log.saidDrafts;
  if (drafts.length === 0) return;
  const { slot } = session;
  const noAnswer = () => new UnknownOutcomeError(`the log of ${describeSlot(slot)} gave no answer`);
  try {
    await withDeadline(() => parts.log.append(slot, drafts), maxWriteAheadMs, noAnswer);
    session.log.written(drafts);
  } catch {
    // The save, which has to succeed, will tell.
  }
}
