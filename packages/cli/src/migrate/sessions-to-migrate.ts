import type { DistributedStore, Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { inWorkers } from "./in-workers.js";
import { withRetries } from "./with-retries.js";

/** Sessions to migrate. */
export interface SessionFilter {
  readonly agentId?: string | undefined;
  /** `null` for anonymous sessions. */
  readonly userId?: string | null | undefined;
}

/** Large, because a file store with very many sessions scans them again for every page. */
const PAGE = 1_000;
/** Users whose logs are listed at the same time. */
const PARALLEL = 8;
/** Sessions in memory at a time, some hundred bytes each. */
const CHUNK = 100_000;

/** Owner of sessions. */
type Owner = Pick<Slot, "agentId"> & { readonly userId: string };

/**
 * Lists the sessions of a store in chunks, each from the least to the most recently saved: copied in this order, they are
 * listed on the target as at the source.
 *
 * Sessions that only have a log follow, for every user with another session. Logs of anonymous users cannot be listed, so
 * theirs are not found.
 *
 * @param signal - ends the listing early
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
  // Beyond that bound a session may be listed twice, which costs one more comparison.
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
