import type { Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";

/** How many references are remembered; one takes some hundred bytes. */
const KEPT = 4_096;

/** Under which name the log behind keeps a blob, for the blobs that were seen last. */
export class KnownRefs {
  readonly #entries = new Map<string, string>();

  get(slot: Slot, ref: string): string | undefined {
    return this.#entries.get(keyOf(slot, ref));
  }

  set(slot: Slot, ref: string, innerRef: string): void {
    const key = keyOf(slot, ref);
    this.#entries.delete(key);
    this.#entries.set(key, innerRef);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > KEPT && oldest !== undefined) this.#entries.delete(oldest);
  }
}

function keyOf(slot: Slot, ref: string): string {
  return slotText(slot) + ref;
}
