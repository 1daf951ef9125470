import type { SessionRecord } from "../session-record.js";
import type { EventOf } from "../trace.js";
import type { Check, History, Violation } from "./check.js";

/**
 * No tool starts under a stale lease, and no tool call runs twice.
 *
 * A process may be stopped between the engine's last look at its lease and the first statement of the tool, where nothing
 * can keep it from running; it then came to the tool's hook in time.
 */
export const toolsRunUnderTheirLease: Check = (history) =>
  history.sessions.flatMap((record) => {
    const { trace } = history;
    const { session } = record;
    const grants = trace.of("granted", session);
    const runs = trace.of("tool", session);
    const seen = new Map<string, EventOf<"tool">>();
    return runs.flatMap((run): Violation[] => {
      const violations: Violation[] = [];
      const own = grants.find(({ token }) => token === run.token);
      const successor = grants.find(
        ({ t, token }) => own !== undefined && token !== own.token && t > own.t && t < run.t,
      );
      const cameInTime = successor !== undefined && (run.cameAt ?? run.t) < successor.t;
      if (successor !== undefined && !cameInTime)
        violations.push({
          check: "no tool runs under a stale lease",
          session,
          message: `${run.nonce} ran on ${run.node} ${Math.round(run.t - successor.t)} ms after ${successor.node} had been granted the session`,
          evidence: [own, successor, run],
        });
      else if (run.leftMs !== null && run.leftMs < 0 && !isWithinStop(run))
        violations.push({
          check: "no tool runs under a stale lease",
          session,
          message: `${run.nonce} started ${Math.round(-run.leftMs)} ms after its lease had ended`,
          evidence: [own, run],
        });
      const before = seen.get(run.nonce);
      if (before !== undefined && !wasDiscarded(history, record, before))
        violations.push({
          check: "no tool call runs twice",
          session,
          message: `${run.nonce} ran on ${before.node} and on ${run.node}`,
          evidence: [before, run],
        });
      seen.set(run.nonce, run);
      return violations;
    });
  });

/**
 * Tells that the work of a tool was lost with its call, so that the tool may run again when it is approved again: with `persistence: "call"`, when
 * nothing of the call was saved; and when the call was rolled back, as its caller was told.
 */
function wasDiscarded(history: History, record: SessionRecord, run: EventOf<"tool">): boolean {
  const own = record.saves.filter(({ token, t }) => token === run.token && t > run.t);
  const last = own.at(-1);
  const told = history.done.find(({ operation }) => operation.op === run.op)?.told;
  // Saves before a delete are not in the record.
  if (last === undefined) return !savesSteps(run.node) || told?.reply?.reason === "interrupted";
  const call = history.trace.of("tool-call", run.s).find(({ nonce }) => nonce === run.nonce);
  const isKept = last.messages.some(({ results }) => results.some(({ id }) => id === call?.id));
  return told?.reply?.reason === "interrupted" && !isKept;
}

/** The lease was valid when the call came to the tool's hook. */
function isWithinStop({ t, cameAt = t, leftMs }: EventOf<"tool">): boolean {
  return leftMs !== null && leftMs + (t - cameAt) >= 0;
}

/** Time in which a tool's result must be saved when nothing is wrong with the store. */
const saveMarginMs = 1_000;

/** With `persistence: "step"` the result of a tool that had finished is kept when its process dies. */
export const finishedToolsStayFinished: Check = (history) =>
  history.sessions.flatMap((record) => {
    const { trace } = history;
    const { session } = record;
    const calls = new Map(trace.of("tool-call", session).map(({ nonce, id }) => [nonce, id]));
    return trace.of("tool-end", session).flatMap((end): Violation[] => {
      if (end.aborted || !savesSteps(end.node)) return [];
      const id = calls.get(end.nonce);
      const result = id === undefined ? undefined : resultOf(record, id);
      if (result !== "interrupted") return [];
      const last = trace.events.findLast(({ node }) => node === end.node)?.t ?? end.t;
      const isUndisturbed =
        last - end.t > saveMarginMs && !hasOutage(history, end.t, end.t + saveMarginMs);
      if (!isUndisturbed || hadLostItsLease(history, session, end)) return [];
      return [
        {
          check: "a tool that finished stays finished",
          session,
          message: `${end.nonce} finished on ${end.node}, which lived on for ${Math.round(last - end.t)} ms, and its outcome is called unknown`,
          evidence: [end],
        },
      ];
    });
  });

/** A node that stood still past its lease cannot save what its tool returned; the caller was told. */
function hadLostItsLease(history: History, session: string, end: EventOf<"tool-end">): boolean {
  const run = history.trace.of("tool", session).find(({ nonce }) => nonce === end.nonce);
  const told = history.done.find(({ operation }) => operation.op === run?.op)?.told;
  return told?.error?.code === "LEASE_LOST";
}

/** Nodes with an odd number save step by step. */
function savesSteps(node: string): boolean {
  return Number(/^n(\d+)/.exec(node)?.[1]) % 2 === 1;
}

/** The result that a tool call had last: one that was taken back does not count. */
function resultOf({ saves }: SessionRecord, toolCallId: string): string | undefined {
  for (const { append } of saves.toReversed())
    for (const { results } of append)
      for (const { id, state } of results) if (id === toolCallId) return state;
  return undefined;
}

function hasOutage({ outages }: History, from: number, to: number): boolean {
  return outages.some(({ start, end }) => start < to && end > from);
}
