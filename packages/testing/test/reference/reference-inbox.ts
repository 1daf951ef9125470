import type { Slot } from "@holdfast/core";
import {
  checkInboxUse,
  checkSlot,
  type Inbox,
  type InboxEntry,
  slotText,
} from "@holdfast/core/store-kit";

/** The shortest inbox that keeps the contract; broken ones override a method. */
export class ReferenceInbox implements Inbox {
  /** Entries as JSON text, by slot. */
  readonly held: Map<string, string[]> = new Map();
  /** Slots whose inbox holds an input, and when the first one came. */
  readonly heard: Map<string, { readonly slot: Slot; readonly at: number }> = new Map();
  readonly #connect: () => Promise<void>;
  readonly #tick: () => number;

  /** @param tick - advances the clock of listings */
  constructor(connect: () => Promise<void>, tick: () => number) {
    this.#connect = connect;
    this.#tick = tick;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    checkSlot(slot);
    const copy = JSON.parse(JSON.stringify(entry));
    await this.#connect();
    this.add(slot, copy);
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    checkSlot(slot);
    await this.#connect();
    return this.entries(slot);
  }

  async remove(slot: Slot, ids: readonly string[]): Promise<void> {
    checkSlot(slot);
    await this.#connect();
    this.drop(slot, ids);
  }

  add(slot: Slot, entry: InboxEntry): void {
    const texts = this.held.get(slotText(slot)) ?? [];
    if (this.isThere(slot, entry)) return;
    const after = [...texts, JSON.stringify(entry)];
    const bytes = after.reduce((sum, text) => sum + this.sizeOf(text), 0);
    checkInboxUse(slot, { entries: after.length, bytes });
    this.held.set(slotText(slot), after);
    if (entry.kind === "input" && !this.heard.has(slotText(slot)))
      this.heard.set(slotText(slot), { slot, at: this.#tick() });
  }

  entries(slot: Slot): InboxEntry[] {
    return (this.held.get(slotText(slot)) ?? []).map((text) => JSON.parse(text));
  }

  drop(slot: Slot, ids: readonly string[]): void {
    const left = this.entries(slot).filter(({ id }) => !ids.includes(id));
    this.held.set(
      slotText(slot),
      left.map((entry) => JSON.stringify(entry)),
    );
    if (!left.some(({ kind }) => kind === "input")) this.heard.delete(slotText(slot));
  }

  empty(slot: Slot): void {
    this.held.delete(slotText(slot));
    this.heard.delete(slotText(slot));
  }

  protected isThere(slot: Slot, entry: InboxEntry): boolean {
    return this.entries(slot).some(({ id }) => id === entry.id);
  }

  protected sizeOf(text: string): number {
    return Buffer.byteLength(text, "utf8");
  }
}
