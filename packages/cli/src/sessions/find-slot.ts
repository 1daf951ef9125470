import { type DistributedStore, type Slot, type SlotInfo, StateCorruptError } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { CommandError, exitCodes } from "../exit-code.js";
import { type OwnerFlags, userOf } from "./session-options.js";

/** Candidates that an error names at most. */
const MAX_NAMED = 5;

/** Lists the sessions of the selected owners, page by page. */
export async function* listed(
  { stateStore }: Pick<DistributedStore, "stateStore">,
  flags: OwnerFlags,
): AsyncGenerator<SlotInfo> {
  let cursor: string | undefined;
  do {
    const query = { agentId: flags.agent, userId: userOf(flags), limit: 1_000, cursor };
    const page = await stateStore.list(query);
    yield* page.slots;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/**
 * Finds the only session with an id. With agent and user given it may have a log and no state.
 *
 * @throws CommandError when there is none (3), or the id is not unique (2)
 */
export async function findSlot(
  parts: DistributedStore,
  sessionId: string,
  flags: OwnerFlags,
): Promise<Slot> {
  const userId = userOf(flags);
  if (flags.agent !== undefined && userId !== undefined) {
    const slot = { agentId: flags.agent, userId, sessionId };
    if (await hasState(parts, slot)) return slot;
    if ((await parts.log.read(slot, { limit: 1 })).length > 0) return slot;
    throw new CommandError(exitCodes.notFound, `there is no ${describeSlot(slot)}`);
  }
  const found: Slot[] = [];
  for await (const { slot } of listed(parts, flags))
    if (slot.sessionId === sessionId) found.push(slot);
  const [only] = found;
  if (only === undefined) throw noSession(sessionId);
  if (found.length === 1) return only;
  const names = found.slice(0, MAX_NAMED).map((slot) => `\n- ${describeSlot(slot)}`);
  throw new CommandError(
    exitCodes.usage,
    `${found.length} sessions have the id ${JSON.stringify(sessionId)}; choose with --agent and --user (or --anonymous):${names.join("")}`,
  );
}

/** Creates the error for an unknown session. */
export function noSession(sessionId: string): CommandError {
  return new CommandError(
    exitCodes.notFound,
    `there is no session ${JSON.stringify(sessionId)}; "holdfast sessions list" shows all`,
  );
}

/** Counts an unreadable state as present: it can still be deleted. */
async function hasState({ stateStore }: DistributedStore, slot: Slot): Promise<boolean> {
  try {
    return (await stateStore.load(slot)) !== null;
  } catch (error) {
    if (StateCorruptError.is(error)) return true;
    throw error;
  }
}
