import { SessionBusyError, type Slot } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { dayPath } from "../files/memory-files.js";
import { SlotEntries } from "../flush/slot-entries.js";
import type { MemoryParts } from "../memory-parts.js";
import { plausibleTime } from "../schedule/due-time.js";
import { type StoredUserEntry, UserEntries, type UserEntry } from "./user-entries.js";

const DAY_MS = 86_400_000;

/** Tells whether the last tidying by this agent was a day ago or more. */
export function isTidyDue(parts: MemoryParts, { tidied }: UserEntry): boolean {
  const now = parts.now().getTime();
  return now - plausibleTime(tidied[keyOf(parts)] ?? 0, now) >= DAY_MS;
}

/** Archives old notes and deletes expired logs. The caller holds the user's lease. */
export async function tidyUp(
  parts: MemoryParts,
  namespace: FileNamespace,
  stored: StoredUserEntry,
  stops: readonly AbortSignal[],
): Promise<StoredUserEntry> {
  const checkStops = (): void => {
    for (const stop of stops) stop.throwIfAborted();
  };
  const { consumed } = stored.entry;
  const now = parts.now().getTime();
  const oldest = dayPath(new Date(now - parts.settings.dailyRetentionDays * DAY_MS));
  const kept: Record<string, number> = {};
  for (const { path, bytes } of await parts.files.days(namespace)) {
    checkStops();
    const done = consumed[path];
    if (path < oldest && done === bytes) await parts.files.archive(namespace, path);
    else if (done !== undefined) kept[path] = done;
  }
  // Only by a time that an earlier tidying has seen: this clock may be wrong, and a deleted log is gone.
  const confirmed = Math.min(now, stored.entry.tidied[keyOf(parts)] ?? 0);
  const since = confirmed - (parts.settings.sessionRetentionDays ?? Infinity) * DAY_MS;
  for (const slot of await logsBefore(since, parts, namespace)) {
    checkStops();
    await deleteLog(since, parts, slot);
  }
  const tidied = { ...stored.entry.tidied, [keyOf(parts)]: now };
  const entry = { ...stored.entry, consumed: kept, tidied };
  return new UserEntries(parts.keyValue).put(namespace, stored, entry);
}

async function logsBefore(
  since: number,
  { agentId, log }: MemoryParts,
  { userId, sessionId }: FileNamespace,
): Promise<Slot[]> {
  const old: Slot[] = [];
  if (since === -Infinity || userId === null) return old;
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ agentId, userId, cursor });
    for (const { slot, lastAt } of page.sessions)
      if (Date.parse(lastAt) < since && slot.sessionId !== sessionId) old.push(slot);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return old;
}

/** Deletes a log, unless a call is running in the session or has run since the logs were listed. */
async function deleteLog(
  since: number,
  { gate, log, keyValue }: MemoryParts,
  slot: Slot,
): Promise<void> {
  try {
    const lease = await gate.acquire(slot, { callId: uuidv7(), wait: false });
    try {
      const [last] = await log.read(slot, { limit: 1 });
      if (last !== undefined && Date.parse(last.at) >= since) return;
      await log.delete(slot);
      await new SlotEntries(keyValue).forget(slot);
    } finally {
      await lease.release().catch(() => undefined);
    }
  } catch (error) {
    if (!SessionBusyError.is(error)) throw error;
  }
}

/** Prefixed, so that it is never the name of an inherited property. */
function keyOf({ agentId }: MemoryParts): string {
  return `agent ${agentId}`;
}
