import { setTimeout as delay } from "node:timers/promises";
import { AmbiguousInterruptError, InvalidIdError } from "../../errors/errors.js";
import { checkOptions } from "../../plugin-kit/unknown-names.js";
import type { Inbox } from "../../ports/inbox.js";
import { checkId, type Slot } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { Call } from "../call.js";
import { wordsOf } from "../method-options.js";
import type { Maintenance } from "./maintenance.js";
import { receiveWords } from "./receive-words.js";
import type { NamedSession } from "./session-arguments.js";
import { isCallId } from "./visit-session.js";

/**
 * Result of an interrupt.
 *
 * - `stopped`: the call was told to stop, and has the message.
 * - `queued`: the call had ended or does not answer; the message is stored, and the session's next call takes it in.
 * - `closed_asks`: no call was in flight; tool calls that waited for an answer were closed.
 * - `false`: there was nothing to interrupt, and nothing was stored.
 */
export type Interruption = false | "stopped" | "queued" | "closed_asks";

/** Options of `interrupt`. */
export interface InterruptOptions {
  /** Interrupts this call and no other. @default the running call, else the first that waits */
  readonly callId?: string | undefined;
}

/** Reads the options of `interrupt` and `steer`. @throws InvalidInputError | InvalidIdError */
export function addressee(options: unknown, method: "interrupt" | "steer"): InterruptOptions {
  const { callId } = checkOptions<InterruptOptions>(options, ["callId"], method);
  if (callId !== undefined) checkId(callId, "callId");
  return { callId };
}

/**
 * Stops the one call in flight of this process.
 *
 * @throws AmbiguousInterruptError when there are several
 * @throws InvalidIdError when the agent wants sessions to be named
 */
export async function interruptOnlyCall({
  settings,
  lifecycle,
}: AgentParts): Promise<Interruption> {
  if (settings.requireSession !== false)
    throw new InvalidIdError(
      "interrupt() names no session, and this agent has requireSession: use interrupt(userId, sessionId)",
    );
  // Calls of agents that work for this one are stopped with the call that waits for them.
  const calls = lifecycle.active.filter(
    (one): one is Call => one instanceof Call && one.slot.agentId === settings.agentId,
  );
  if (calls.length > 1)
    throw new AmbiguousInterruptError(
      `${calls.length} calls are in flight; name the session: interrupt(userId, sessionId)`,
    );
  for (const call of calls) call.stop.stop("interrupt");
  return calls.length === 1 ? "stopped" : false;
}

/** Longest wait for a call to stop. The message is stored before it; only the answer depends on it. */
const maxStopMs = 5_000;

/** Stops a call of the session and keeps the message, whatever becomes of that call. */
export async function interruptSession(
  parts: AgentParts,
  maintenance: Maintenance,
  { slot, ctx, rest }: NamedSession,
): Promise<Interruption> {
  const { callId } = addressee(rest[1], "interrupt");
  const given = rest[0] === undefined ? undefined : wordsOf(parts, rest[0], "interrupt");
  // An update or a compaction may hold the slot, which cannot be interrupted; then it is the first waiting call.
  const calls = (await parts.gate.calls(slot)).filter(isCallId);
  const target = callId === undefined ? calls[0] : calls.find((id) => id === callId);
  const message =
    given &&
    (await receiveWords(parts, given, {
      slot,
      ctx,
      callId: target ?? uuidv7(),
      origin: "interrupt",
    }));
  const closeAsks = async () =>
    callId === undefined && (await maintenance.closeOpenCalls(slot, message))
      ? "closed_asks"
      : false;
  if (target === undefined) return closeAsks();
  const stop = () => parts.signals.send(slot, target, { kind: "interrupt", message });
  if (!message) return (await stop()) ? "stopped" : closeAsks();
  const { inbox } = parts.stateStore;
  if (!inbox) {
    await stop();
    // Behind the call, which has the message by then or never gets it.
    return (await maintenance.addMissing(slot, message)) ? "queued" : "stopped";
  }
  const at = parts.now().toISOString();
  const body = { message: JSON.parse(JSON.stringify(message)) };
  await inbox.put(slot, { id: message.id, kind: "interrupt", callId: target, at, body });
  await stop();
  const fate = await fateOf(parts, inbox, slot, target, message.id);
  if (fate === "taken") return "stopped";
  if (fate === "waits" || (await closeAsks()) === false) return "queued";
  await inbox.remove(slot, [message.id]);
  return "closed_asks";
}

/** Waits until the call took the message in, or ended without it; not longer than a call should take to stop. */
async function fateOf(
  { gate, lifecycle }: AgentParts,
  inbox: Inbox,
  slot: Slot,
  callId: string,
  id: string,
): Promise<"taken" | "missed" | "waits"> {
  const deadline = performance.now() + maxStopMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    // A call of this process says by itself that it has it: one of its own hooks may be waiting for the answer.
    if (lifecycle.active.some((call) => call.hasHeard?.(id))) return "taken";
    const hasEnded = !(await gate.calls(slot)).includes(callId);
    if (!(await inbox.read(slot)).some((entry) => entry.id === id)) return "taken";
    if (hasEnded) return "missed";
    if (performance.now() >= deadline) return "waits";
    await delay(pauseMs);
  }
}
