import { type DistributedStore, type Slot, slotText } from "@holdfast/core";
import { inWorkers } from "./in-workers.js";
import { withRetries } from "./with-retries.js";

/** Which sessions to look at. */
export interface SessionFilter {
  readonly agentId?: string | undefined;
  /** `null`: the anonymous sessions. */
  readonly userId?: string | null | undefined;
}

/** Files are looked through anew for every page when there are very many. */
const PAGE = 1_000;
/** Users looked at side by side. */
const PARALLEL = 8;
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
 *
 * @param signal - ends it early
 */
export async function* sessionsToMigrate(
  { stateStore, log }: Pick<DistributedStore, "stateStore" | "log">,
  { agentId, userId }: SessionFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly Slot[], void, void> {
  const owners = new Map<string, Owner>();
  const met = new Set<string>();
  if (agentId !== undefined && typeof userId === "string")
    owners.set(JSON.stringify([agentId, userId]), { agentId, userId });
  let chunk: Slot[] = [];
  let cursor: string | undefined;
  do {
    const query = { agentId, userId, limit: PAGE, cursor };
    const page = await withRetries(() => stateStore.list(query), signal);
    if (signal.aborted) return;
    for (const { slot } of page.slots) {
      chunk.push(slot);
      if (met.size < CHUNK) met.add(slotText(slot));
      if (slot.userId !== null)
        owners.set(JSON.stringify([slot.agentId, slot.userId]), {
          agentId: slot.agentId,
          userId: slot.userId,
        });
    }
    cursor = page.cursor;
    if (chunk.length >= CHUNK) {
      yield chunk.reverse();
      chunk = [];
    }
  } while (cursor !== undefined);
  // A session that was met and forgotten comes twice, which costs a look at it.
  const logOnly = Array.from(owners.values(), (owner) => ({ owner, slots: [] as Slot[] }));
  await inWorkers(logOnly, PARALLEL, signal, async ({ owner, slots }) => {
    let next: string | undefined;
    do {
      const query = { ...owner, limit: PAGE, cursor: next };
      const page = await withRetries(() => log.sessions(query), signal);
      for (const { slot } of page.sessions) if (!met.has(slotText(slot))) slots.push(slot);
      next = page.cursor;
    } while (next !== undefined && !signal.aborted);
  });
  yield [...logOnly.flatMap(({ slots }) => slots).reverse(), ...chunk.reverse()];
}
