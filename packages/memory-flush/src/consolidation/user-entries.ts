import type { JsonObject, KeyValueStore } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import { z } from "zod";
import { memorySlot } from "../files/memory-files.js";

const NAMESPACE = ["memory-flush", "users"];

/** How far the notes of a user are in `MEMORY.md`, as it is stored. Times in milliseconds. */
export type UserEntry = {
  /** When the last consolidation began, whatever came of it. */
  readonly consolidatedAt: number;
  /** How often in a row it failed. */
  readonly failures: number;
  /** When each agent last put old notes and logs away; the logs are its own. */
  readonly tidied: Readonly<Record<string, number>>;
  /** Bytes of each file of notes that `MEMORY.md` has. */
  readonly consumed: Readonly<Record<string, number>>;
};

/** A {@link UserEntry} and the version it was read with; null where there is none. */
export interface StoredUserEntry {
  readonly entry: UserEntry;
  readonly version: string | null;
}

const entrySchema: z.ZodType<UserEntry> = z.object({
  consolidatedAt: z.number(),
  failures: z.number(),
  tidied: z.record(z.string(), z.number()),
  consumed: z.record(z.string(), z.number()),
});

const never: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed: {} };

/** The watermarks of users, each changed only by whoever read it last. */
export class UserEntries {
  readonly #keyValue: KeyValueStore;

  constructor(keyValue: KeyValueStore) {
    this.#keyValue = keyValue;
  }

  async get(namespace: FileNamespace): Promise<StoredUserEntry> {
    const stored = await this.#keyValue.get(NAMESPACE, keyOf(namespace));
    // What is no entry counts as none: notes are merged again, and none is missed.
    const entry = entrySchema.safeParse(stored?.value).data ?? never;
    return { entry, version: stored?.version ?? null };
  }

  /** @throws StateConflictError when it was changed or deleted meanwhile */
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
