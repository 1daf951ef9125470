import type { DistributedStore, Slot } from "@holdfast/core";
import { type LoadedState, loadWhole, uuidv7 } from "@holdfast/core/store-kit";
import { recordOf, sampleMessage } from "./sample-sessions.js";

/** Saves a turn as an agent does: a record, then the state. */
export async function addTurn(parts: DistributedStore, slot: Slot, number: number): Promise<void> {
  const message = sampleMessage(7_000, number);
  await parts.log.append(slot, [recordOf(7_000, number, message)]);
  const { revision, head, messages } = await stateOf(parts, slot);
  await parts.stateStore.save(slot, {
    op: uuidv7(),
    expected: revision,
    head,
    keep: messages.length,
    replace: [],
    append: [message],
  });
}

/** The state of a session that must be there. */
export async function stateOf({ stateStore }: DistributedStore, slot: Slot): Promise<LoadedState> {
  const state = await loadWhole(stateStore, slot);
  if (state === null) throw new Error("there is no such session");
  return state;
}
