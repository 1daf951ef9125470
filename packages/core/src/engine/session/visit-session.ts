import { RuntimeContext } from "../../context/runtime-context.js";
import { ShuttingDownError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import { type AgentParts, backgroundEvent } from "../assemble/agent-parts.js";
import { type CallScope, UsageMeter } from "../call-scope.js";
import { Prefetch } from "../loop/reasoning.js";
import { saveSession } from "../save/save-session.js";
import { type EntryOptions, withSession } from "./enter-session.js";
import type { ActiveCall } from "./lifecycle.js";
import type { OpenSession } from "./open-session.js";
import { CallStopped, orAborted, StopSwitch } from "./stop-switch.js";
import { Steering } from "./take-steered.js";

/** Begins the call id of work that is not a call, which cannot be interrupted. */
const MAINTENANCE = "maintenance:";

/** Tells whether a call id at the gate is a call's; other work on sessions has ids of its own. */
export function isCallId(callId: string): boolean {
  return !callId.startsWith(MAINTENANCE);
}

/** Work on an open session, with the function that saves it. */
export type SessionWork<T> = (
  session: OpenSession,
  save: (writer?: string) => Promise<void>,
  scope: CallScope,
) => Promise<T>;

/** Entry of a piece of work that is not a call, and how to stop it. */
export interface Visit extends EntryOptions {
  readonly stop: StopSwitch;
}

/** Runs `work` on the open session, behind the calls that were made before. */
export async function visitSession<T>(
  parts: AgentParts,
  slot: Slot,
  work: SessionWork<T>,
  reading: Pick<EntryOptions, "salvage" | "acceptsRollback"> = {},
): Promise<T> {
  return visitSlot(parts, slot, (visit) =>
    withSession(parts, slot, { ...visit, ...reading }, (session) => {
      const scope = scopeOf(parts, session, visit);
      const save = async (writer?: string) => {
        visit.stop.check();
        await saveSession(scope, { final: true, outcome: "committed", writer });
      };
      return visit.stop.race(work(session, save, scope));
    }),
  );
}

/** A piece of work that a shutdown waits for, as long as it waits for calls. */
export async function visitSlot<T>(
  parts: AgentParts,
  slot: Slot,
  work: (visit: Visit) => Promise<T>,
): Promise<T> {
  const { lifecycle } = parts;
  const run = { runId: uuidv7(), callId: `${MAINTENANCE}${uuidv7()}` };
  const { callId } = run;
  const stop = new StopSwitch();
  const leave = new AbortController();
  const shuttingDown = () =>
    new ShuttingDownError(
      `agent "${parts.settings.name}" is shutting down; the work on ${describeSlot(slot)} was not finished. Send it to another process`,
    );
  const abandon = new AbortController();
  const active: ActiveCall & { isRunning: boolean } = {
    callId,
    isRunning: false,
    drain: () => leave.abort(shuttingDown()),
    cut: () => stop.stop("shutdown"),
    abandon: () => abandon.abort(shuttingDown()),
  };
  const left = lifecycle.enter(active);
  try {
    await lifecycle.ready(leave.signal);
    const emit = (event: EventBody) => parts.observe(backgroundEvent(slot, callId, event));
    const onEnter = () => {
      active.isRunning = true;
    };
    const working = work({ ...run, stop, signal: leave.signal, emit, onEnter });
    return await orAborted(working, abandon.signal);
  } catch (error) {
    throw error instanceof CallStopped ? shuttingDown() : error;
  } finally {
    left();
  }
}

function scopeOf(parts: AgentParts, session: OpenSession, visit: Visit): CallScope {
  const { slot } = session;
  const { callId, runId, stop, emit } = visit;
  const ctx = RuntimeContext.of({ ...slot, callId, signal: stop.signal });
  ctx.agentState = session.state;
  return {
    parts,
    session,
    slot,
    ctx,
    callId,
    run: { runId, callId },
    named: false,
    inputHash: undefined,
    stop,
    steering: new Steering(),
    prefetch: new Prefetch(parts.prefetches, { slot, ctx }),
    usage: new UsageMeter(),
    notBegun: new Set(),
    newInput: [],
    inputIds: [],
    emit,
    checkpoint: () => undefined,
    settled: async () => undefined,
  };
}
