import type { AgentParts } from "../assemble/agent-parts.js";
import { wordsOf } from "../method-options.js";
import { addressee } from "./interrupt-session.js";
import type { Maintenance } from "./maintenance.js";
import { receiveWords } from "./receive-words.js";
import type { NamedSession } from "./session-arguments.js";
import { steerEntry } from "./take-steered.js";
import { isCallId } from "./visit-session.js";

/**
 * Stores a message for a call of the session, then tells the call to look for it.
 *
 * The signal is a hint: where it is lost or comes too late, the message waits in the inbox for the session's next call. With a
 * store that has no inbox, the message comes with the signal, and it is stored once the call has ended.
 */
export async function steerSession(
  parts: AgentParts,
  maintenance: Maintenance,
  { slot, ctx, rest }: NamedSession,
): Promise<false | "steered" | "queued"> {
  const { callId: wanted } = addressee(rest[1], "steer");
  const given = wordsOf(parts, rest[0], "steer");
  const target = async (): Promise<string | undefined> => {
    const calls = (await parts.gate.calls(slot)).filter(isCallId);
    return wanted === undefined ? calls[0] : calls.find((id) => id === wanted);
  };
  const callId = await target();
  if (callId === undefined) return false;
  const message = await receiveWords(parts, given, { slot, ctx, callId, origin: "steer" });
  const { inbox } = parts.stateStore;
  if (!inbox) {
    await parts.signals.send(slot, callId, { kind: "steer", message });
    // Behind the call, which has the message by then or never gets it.
    return (await maintenance.addMissing(slot, message)) ? "queued" : "steered";
  }
  await inbox.put(slot, steerEntry(message, callId, parts.now().toISOString()));
  // Asked again: a call that began meanwhile may have looked into the inbox before the message was there.
  const running = await target();
  const isTold =
    running !== undefined && (await parts.signals.send(slot, running, { kind: "steer" }));
  return isTold ? "steered" : "queued";
}
