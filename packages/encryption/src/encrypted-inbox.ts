import type { JsonObject, Slot } from "@holdfast/core";
import type { Inbox, InboxEntry } from "@holdfast/core/store-kit";
import { checkSlot, describeSlot, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { Seals } from "./seals.js";

/** Inbox whose backend sees the ids, kinds and times of entries, but not what was said. */
export class EncryptedInbox implements Inbox {
  readonly #inner: Inbox;
  readonly #ring: KeyRing;

  constructor(inner: Inbox, ring: KeyRing) {
    this.#inner = inner;
    this.#ring = ring;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    const owner = checkSlot(slot);
    await this.#inner.put(owner, sealEntry(this.#ring, owner, entry));
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    const owner = checkSlot(slot);
    return openEntries(this.#ring, owner, await this.#inner.read(owner));
  }

  remove(slot: Slot, ids: readonly string[]): Promise<void> {
    return this.#inner.remove(slot, ids);
  }
}

/** Seals the body of an entry, bound to the fields that stay readable. */
export function sealEntry(ring: KeyRing, slot: Slot, entry: InboxEntry): InboxEntry {
  const { id, kind, callId, at, body } = entry;
  const sealed = sealsOf(ring, slot).seal(JSON.stringify(body), id, kind, callId, at);
  return { id, kind, callId, at, body: { sealed } };
}

/**
 * Opens the entries that a store returned.
 *
 * @throws StateCorruptError
 */
export function openEntries(
  ring: KeyRing,
  slot: Slot,
  entries: readonly InboxEntry[],
): InboxEntry[] {
  const seals = sealsOf(ring, slot);
  return entries.map((entry) => {
    const { id, kind, callId, at, body } = entry;
    const what = `an inbox entry of ${describeSlot(slot)}`;
    const text = seals.open(body, what, id, kind, callId, at);
    return text === null ? entry : { ...entry, body: JSON.parse(text) as JsonObject };
  });
}

function sealsOf(ring: KeyRing, slot: Slot): Seals {
  return new Seals(ring, "holdfast.inbox.1", slotText(slot));
}
