import type { Message } from "../../message/message.js";
import type { InboxEntry } from "../../ports/inbox.js";
import { withFreshIds } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import { saveNow, saveStep } from "../save/save-session.js";
import { takeMessage } from "./take-in.js";

/** Notes that a message for the call waits in the inbox; until then, looking for one costs nothing. */
export class Steering {
  /** True when the call was told of a message that it has not looked for yet. */
  isTold = false;
  /** Messages that came with the signal, from a store without an inbox. */
  readonly messages: Message[] = [];

  tell(message: Message | undefined): void {
    this.isTold = true;
    if (message) this.messages.push(message);
  }
}

/**
 * Takes in the messages that the running call was told of, between two steps: no tool call is open then.
 *
 * They are no part of the run: a rollback leaves them in the session.
 *
 * @returns whether there were any
 */
export async function takeSteered(scope: CallScope): Promise<boolean> {
  const { steering, stop } = scope;
  const waiting = await stop.race(look(scope)).catch((error) => {
    // Stopped meanwhile: what it would have found is still to be taken in.
    steering.isTold = true;
    throw error;
  });
  return takeAndSave(scope, waiting);
}

/** Takes in the messages that tool calls without a result were in the way of. */
export async function takeDeferred(scope: CallScope): Promise<void> {
  await takeAndSave(scope, scope.session.deferred.splice(0));
}

/** Says the messages of the interrupts that stop the call, each behind what it was steered with before; its tool calls have their results. */
export async function sayInterrupts(scope: CallScope): Promise<void> {
  const { session, steering, stop } = scope;
  const { isTold } = steering;
  take(scope, session.deferred.splice(0));
  if (isTold) take(scope, await look(scope));
  for (const message of stop.messages) {
    // One may have been found in the inbox when the session was opened.
    if (session.heard.has(message.id)) continue;
    for (const one of withFreshIds([message], session.state.messages)) session.say(one);
    session.heard.add(message.id);
    session.taken.add(message.id);
    if (isTold && message !== stop.messages.at(-1)) take(scope, await look(scope));
  }
}

/** Returns what waits in the inbox for this call, or for none of those that are in flight. */
async function look(scope: CallScope): Promise<readonly InboxEntry[]> {
  const { parts, slot, callId, steering, session } = scope;
  // Before the inbox is read: a message that comes later is told later.
  steering.isTold = false;
  const { inbox } = parts.stateStore;
  try {
    const entries = (await inbox?.read(slot)) ?? told(scope);
    const fresh = entries.filter(({ id }) => !session.heard.has(id));
    // What came behind an interrupt of this call is said behind it.
    const end = fresh.findIndex((entry) => entry.kind === "interrupt" && entry.callId === callId);
    const steers = fresh
      .slice(0, end < 0 ? fresh.length : end)
      .filter(({ kind }) => kind === "steer");
    return await addressedHere(scope, steers);
  } catch {
    // The messages are safe, and the call runs on: it looks again at its next step.
    steering.isTold = true;
    return [];
  }
}

/** Leaves out the messages for other calls that are in flight, which take them in themselves. */
export async function addressedHere(
  { parts, slot, callId }: CallScope,
  entries: readonly InboxEntry[],
): Promise<readonly InboxEntry[]> {
  const isForAnother = (entry: InboxEntry) => entry.kind !== "input" && entry.callId !== callId;
  const calls = entries.some(isForAnother) ? await parts.gate.calls(slot) : [];
  return entries.filter((entry) => !isForAnother(entry) || !calls.includes(entry.callId));
}

/** Returns what came with signals, in the form of an inbox. */
function told({ steering, callId, parts }: CallScope): readonly InboxEntry[] {
  return steering.messages
    .splice(0)
    .map((message) => steerEntry(message, callId, parts.now().toISOString()));
}

/** Returns the entry that keeps a message for a running call. */
export function steerEntry(message: Message, callId: string, at: string): InboxEntry {
  const body = { message: JSON.parse(JSON.stringify(message)) };
  return { id: message.id, kind: "steer", callId, at, body };
}

async function takeAndSave(scope: CallScope, entries: readonly InboxEntry[]): Promise<boolean> {
  if (!take(scope, entries)) return false;
  // Where the save does not empty the inbox, the context must still have the message when its entry goes.
  await (scope.session.lease.inbox ? saveStep(scope) : saveNow(scope));
  return true;
}

function take({ session, emit }: CallScope, entries: readonly InboxEntry[]): boolean {
  if (entries.length === 0) return false;
  // The log has what was said before them before them.
  session.gather();
  const messageIds = entries.filter((entry) => takeMessage(session, entry)).map(({ id }) => id);
  for (const id of messageIds) session.steered.add(id);
  if (messageIds.length > 0) emit({ type: "steered", messageIds });
  return messageIds.length > 0;
}
