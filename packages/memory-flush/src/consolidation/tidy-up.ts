import { type FileNamespace, SessionBusyError, type Slot, uuidv7 } from "@holdfast/core";
import { dayPath } from "../files/memory-files.js";
import { SlotEntries } from "../flush/slot-entries.js";
import type { MemoryParts } from "../memory-parts.js";
import { type StoredUserEntry, UserEntries, type UserEntry } from "./user-entries.js";

const DAY_MS = 86_400_000;

/** Whether this agent has not tidied up for a day. */
export function isTidyDue(parts: MemoryParts, { tidied }: UserEntry): boolean {
  return parts.now().getTime() - (tidied[keyOf(parts)] ?? 0) >= DAY_MS;
}

/** Moves notes of long ago to the archive and deletes logs of long ago; by whoever holds the user's lease. */
export async function tidyUp(
  parts: MemoryParts,
  namespace: FileNamespace,
  stored: StoredUserEntry,
): Promise<StoredUserEntry> {
  const { consumed } = stored.entry;
  const now = parts.now().getTime();
  const oldest = dayPath(new Date(now - parts.settings.dailyRetentionDays * DAY_MS));
  const kept: Record<string, number> = {};
  for (const { path, bytes } of await parts.files.days(namespace)) {
    const done = consumed[path];
    if (path < oldest && done === bytes) await parts.files.archive(namespace, path);
    else if (done !== undefined) kept[path] = done;
  }
  await deleteOldLogs(parts, namespace, now);
  const tidied = { ...stored.entry.tidied, [keyOf(parts)]: now };
  const entry = { ...stored.entry, consumed: kept, tidied };
  return new UserEntries(parts.keyValue).put(namespace, stored, entry);
}

async function deleteOldLogs(
  parts: MemoryParts,
  { userId, sessionId }: FileNamespace,
  now: number,
): Promise<void> {
  const { agentId, log, settings } = parts;
  if (settings.sessionRetentionDays === undefined || userId === null) return;
  const oldest = now - settings.sessionRetentionDays * DAY_MS;
  const old: Slot[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ agentId, userId, cursor });
    for (const { slot, lastAt } of page.sessions)
      if (Date.parse(lastAt) < oldest && slot.sessionId !== sessionId) old.push(slot);
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const slot of old) await deleteLog(parts, slot);
}

/** Not while a call is at the session: its log is about to be written. */
async function deleteLog({ gate, log, keyValue }: MemoryParts, slot: Slot): Promise<void> {
  try {
    const lease = await gate.acquire(slot, { callId: uuidv7(), wait: false });
    try {
      await log.delete(slot);
      await new SlotEntries(keyValue).forget(slot);
    } finally {
      await lease.release().catch(() => undefined);
    }
  } catch (error) {
    if (!SessionBusyError.is(error)) throw error;
  }
}

/** Never the name of something every object has. */
function keyOf({ agentId }: MemoryParts): string {
  return `agent ${agentId}`;
}
