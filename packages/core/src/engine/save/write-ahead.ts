import { UnknownOutcomeError } from "../../errors/store-errors.js";
import { describeSlot } from "../../slot/slot.js";
import { withDeadline } from "../../store-kit/deadline.js";
import type { CallScope } from "../loop/call-scope.js";

/** As long as any command of a store may take. */
const MAX_MS = 5_000;

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
  const drafts = [...session.log.drafts];
  if (drafts.length === 0) return;
  const { slot } = session;
  const noAnswer = () => new UnknownOutcomeError(`the log of ${describeSlot(slot)} gave no answer`);
  try {
    await withDeadline(() => parts.log.append(slot, drafts), MAX_MS, noAnswer);
    session.log.written(drafts.length);
  } catch {
    // The save, which has to succeed, will tell.
  }
}
