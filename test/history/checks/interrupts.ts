import type { DoneOperation } from "../operation.js";
import { type Check, turnsOf, type Violation } from "./check.js";

/**
 * Every interrupted call was interrupted by something: an interrupt of its session that names no other call, or a call that
 * may interrupt, made while it ran. Each of them stops one call.
 */
export const interruptsHitTheirCall: Check = (history) =>
  history.sessions.flatMap(({ session }) => {
    const interrupted = turnsOf(history, session).filter(
      ({ told }) => told.reply?.reason === "interrupted",
    );
    const causes = history.done.filter(({ operation: o }) => {
      if (o.session !== session) return false;
      return (
        o.kind === "interrupt" ||
        (o.kind === "call" && (o.onBusy === "interrupt" || o.onBusy === "rollback"))
      );
    });
    return unmatched(distinctCalls(interrupted, history.done), causes).map(
      (turn): Violation => ({
        check: "an interrupt stops the call it is meant for, and one",
        session,
        message: `${turn.operation.op} was interrupted by nothing`,
        evidence: [turn],
      }),
    );
  });

/**
 * Repeated calls are told the same: one interrupt is enough for all of them, made since the first, which may have been lost.
 */
function distinctCalls(turns: readonly DoneOperation[], done: readonly DoneOperation[]) {
  const byCall = new Map<string, DoneOperation>();
  for (const turn of turns) {
    const callId = turn.told.reply?.callId;
    const starts = done
      .filter(({ operation }) => "callId" in operation && operation.callId === callId)
      .map(({ start }) => start);
    byCall.set(callId ?? "", { ...turn, start: Math.min(turn.start, ...starts) });
  }
  return [...byCall.values()];
}

/** Turns that are left when each cause is given to at most one of them (bipartite matching by augmenting paths). */
function unmatched(
  turns: readonly DoneOperation[],
  causes: readonly DoneOperation[],
): DoneOperation[] {
  const turnOf = new Map<DoneOperation, DoneOperation>();
  const assign = (turn: DoneOperation, tried: Set<DoneOperation>): boolean => {
    for (const cause of causes) {
      if (tried.has(cause) || !mayStop(cause, turn)) continue;
      tried.add(cause);
      const other = turnOf.get(cause);
      if (other === undefined || assign(other, tried)) {
        turnOf.set(cause, turn);
        return true;
      }
    }
    return false;
  };
  return turns.filter((turn) => !assign(turn, new Set()));
}

function mayStop(cause: DoneOperation, turn: DoneOperation): boolean {
  if (cause.operation.op === turn.operation.op) return false;
  if (cause.start > turn.end || cause.end < turn.start) return false;
  if (cause.operation.kind !== "interrupt" || cause.operation.callId === undefined) return true;
  return cause.operation.callId === turn.told.reply?.callId;
}
