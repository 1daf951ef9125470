import { inputBody } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import { beginUnfinished, saveSession } from "./save-session.js";

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
