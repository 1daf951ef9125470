import { AgentState, type DistributedStore, StateCorruptError, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";

/** Names no agent that a person would have. */
const SCRATCH = "holdfast.doctor";

/** Takes a lease, then writes, reads and deletes a session, its log and a value in places nobody else uses. */
export async function roundTrip(parts: DistributedStore): Promise<void> {
  const { stateStore, log, keyValue, gate } = parts;
  const slot = { agentId: SCRATCH, userId: null, sessionId: uuidv7() };
  // First, because of all errors those of a load say most, for example that a password is missing.
  await stateStore.load(slot);
  const lease = await gate.acquire(slot, { callId: uuidv7() });
  await lease.release();
  const message = userMessage("written by holdfast doctor");
  const state = AgentState.create(slot);
  state.contextMutable().push(message);
  try {
    const write = { op: uuidv7(), expected: null, head: state.head(), ...state.contextDelta() };
    const revision = await stateStore.save(slot, write);
    const loaded = await stateStore.load(slot);
    if (loaded === null || loaded === "unchanged" || loaded.revision !== revision)
      throw differs("a session");
    const at = new Date().toISOString();
    await log.append(slot, [
      { v: 1, id: message.id, callId: uuidv7(), at, kind: "message", message },
    ]);
    const [record] = await log.read(slot);
    if (record?.id !== message.id) throw differs("a log");
    await keyValue.put([SCRATCH], slot.sessionId, at);
    if ((await keyValue.get([SCRATCH], slot.sessionId))?.value !== at) throw differs("a value");
  } finally {
    await stateStore.delete(slot);
    await log.delete(slot);
    await keyValue.delete([SCRATCH], slot.sessionId);
  }
}

function differs(what: string): StateCorruptError {
  return new StateCorruptError(`${what} was read back as something else than was written`);
}
