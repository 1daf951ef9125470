import { type DistributedStore, type Slot, slotText } from "@holdfast/core";

/** Which sessions to look at. */
export interface CensusFilter {
  readonly agentId?: string | undefined;
  /** `null`: the anonymous sessions. */
  readonly userId?: string | null | undefined;
}

const PAGE = 200;
/** Sessions in memory at a time: some hundred bytes each. */
const CHUNK = 100_000;

/** Whose sessions were met. */
type Owner = Pick<Slot, "agentId"> & { readonly userId: string };

/**
 * The sessions of a store in chunks, the one saved last at the end of its chunk: copied in this order they are listed on
 * the target as they are at the source.
 *
 * Behind those with a state come the ones that only have a log, of every user met. Logs of anonymous users are not listed by
 * anybody, so those without a state are not found.
 */
export async function* sessionCensus(
  { stateStore, log }: Pick<DistributedStore, "stateStore" | "log">,
  { agentId, userId }: CensusFilter,
): AsyncGenerator<readonly Slot[], void, void> {
  const owners = new Map<string, Owner>();
  const met = new Set<string>();
  if (agentId !== undefined && typeof userId === "string")
    owners.set(JSON.stringify([agentId, userId]), { agentId, userId });
  let chunk: Slot[] = [];
  let cursor: string | undefined;
  do {
    const page = await stateStore.list({ agentId, userId, limit: PAGE, cursor });
    for (const { slot } of page.slots) {
      chunk.push(slot);
      if (met.size < CHUNK) met.add(slotText(slot));
      if (slot.userId !== null)
        owners.set(JSON.stringify([slot.agentId, slot.userId]), { ...slot, userId: slot.userId });
    }
    cursor = page.cursor;
    if (chunk.length >= CHUNK) {
      yield chunk.reverse();
      chunk = [];
    }
  } while (cursor !== undefined);
  // A session that was met and forgotten comes twice, which costs a look at it.
  const logOnly: Slot[] = [];
  for (const owner of owners.values())
    for await (const slot of loggedSessions(log, owner))
      if (!met.has(slotText(slot))) logOnly.push(slot);
  yield [...logOnly.reverse(), ...chunk.reverse()];
}

async function* loggedSessions(
  log: DistributedStore["log"],
  { agentId, userId }: Owner,
): AsyncGenerator<Slot, void, void> {
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ agentId, userId, limit: PAGE, cursor });
    for (const { slot } of page.sessions) yield slot;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
