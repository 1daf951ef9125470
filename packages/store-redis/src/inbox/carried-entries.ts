import type { Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";

/** Characters of all remembered entries. */
const MAX_CHARACTERS = 4_000_000;
/** Shortest text worth a reference. */
const MIN_CHARACTERS = 64;

/**
 * Remembers the entries that leases of this process have put into inboxes: the save that takes one in refers to the messages
 * in it, which the server has, instead of sending them again.
 */
export class CarriedEntries {
  /** JSON by slot and id, the oldest first. */
  readonly #entries = new Map<string, string>();
  #characters = 0;

  /** Remembers an entry, in place of the oldest ones when they are too many. */
  put(slot: Slot, id: string, json: string): void {
    this.forget(slot, [id]);
    if (json.length > MAX_CHARACTERS) return;
    this.#entries.set(keyOf(slot, id), json);
    this.#characters += json.length;
    for (const [key, { length }] of this.#entries) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#entries.delete(key);
      this.#characters -= length;
    }
  }

  /** Forgets entries that were taken. */
  forget(slot: Slot, ids: readonly string[]): void {
    for (const id of ids) {
      const key = keyOf(slot, id);
      this.#characters -= this.#entries.get(key)?.length ?? 0;
      this.#entries.delete(key);
    }
  }

  /**
   * Returns the place of a text in one of these entries, as the save script reads it: index of the entry, its length, and first
   * byte and length of the text; or the text itself, which no JSON object is mistaken for.
   */
  refer(slot: Slot, ids: readonly string[], text: string): string {
    if (text.length < MIN_CHARACTERS) return text;
    for (const [index, id] of ids.entries()) {
      const json = this.#entries.get(keyOf(slot, id));
      const at = json?.indexOf(text) ?? -1;
      if (json !== undefined && at >= 0)
        return [index, bytesOf(json), bytesOf(json.slice(0, at)), bytesOf(text)].join(" ");
    }
    return text;
  }
}

function keyOf(slot: Slot, id: string): string {
  return `${slotText(slot)}\n${id}`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
