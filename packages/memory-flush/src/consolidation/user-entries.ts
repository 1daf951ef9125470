import type { JsonObject, KeyValueStore } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { slotKey } from "@holdfast/core/store-kit";
import { memorySlot } from "../files/memory-files.js";

const NAMESPACE = ["memory-flush", "users"];

/** Watermark of a user, as it is stored: the notes that are merged into `MEMORY.md`. Times in milliseconds. */
export type UserEntry = {
  /** Start of the last consolidation, successful or not. */
  readonly consolidatedAt: number;
  /** Failures in a row. */
  readonly failures: number;
  /** Time of the last tidying by each agent, which deletes its own logs only. */
  readonly tidied: Readonly<Record<string, number>>;
  /** Bytes of each file of notes that are merged. */
  readonly consumed: Readonly<Record<string, number>>;
};

/** A {@link UserEntry} with the version it was read with; null when nothing was stored. */
export interface StoredUserEntry {
  readonly entry: UserEntry;
  readonly version: string | null;
}

const entrySchema: s.Schema<UserEntry> = s.object({
  consolidatedAt: s.number(),
  failures: s.number(),
  tidied: s.record(s.string(), s.number()),
  consumed: s.record(s.string(), s.number()),
});

const never: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed: {} };

/** Watermarks of users, changed only by compare-and-set. */
export class UserEntries {
  readonly #keyValue: KeyValueStore;

  constructor(keyValue: KeyValueStore) {
    this.#keyValue = keyValue;
  }

  async get(namespace: FileNamespace): Promise<StoredUserEntry> {
    const stored = await this.#keyValue.get(NAMESPACE, keyOf(namespace));
    // An invalid entry counts as none: notes are merged again, and none is missed.
    const entry = entrySchema.safeParse(stored?.value).data ?? never;
    return { entry, version: stored?.version ?? null };
  }

  /** Stores an entry. @throws StateConflictError when it was changed or deleted meanwhile */
  async put(
    namespace: FileNamespace,
    { version }: StoredUserEntry,
    entry: UserEntry,
  ): Promise<StoredUserEntry> {
    const { consumed, tidied } = entry;
    const value: JsonObject = { ...entry, consumed: { ...consumed }, tidied: { ...tidied } };
    const expected = version;
    const next = await this.#keyValue.put(NAMESPACE, keyOf(namespace), value, { expected });
    return { entry, version: next };
  }

  async forget(namespace: FileNamespace): Promise<void> {
    await this.#keyValue.delete(NAMESPACE, keyOf(namespace));
  }
}

function keyOf(namespace: FileNamespace): string {
  return slotKey(memorySlot(namespace));
}
