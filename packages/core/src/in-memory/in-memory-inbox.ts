import type { Inbox, InboxEntry } from "../ports/inbox.js";
import { checkSlot, type Slot, slotText } from "../slot/slot.js";
import { checkInboxUse } from "../store-kit/inbox-bounds.js";

/** Entry as JSON text, so that callers share no references with the inbox. */
interface StoredEntry {
  readonly id: string;
  readonly isInput: boolean;
  readonly text: string;
  readonly bytes: number;
}

/** Inbox of one slot; `inputSince` is when the first input came, while there is one. */
interface StoredInbox<Since> {
  readonly slot: Slot;
  readonly entries: readonly StoredEntry[];
  readonly inputSince: Since | undefined;
}

/**
 * Keeps inbox entries for as long as this object lives: the reference {@link Inbox}, a part of `InMemoryAgentStateStore`.
 *
 * The methods that return no promise are steps of a larger change. They take slots that were checked before.
 */
export class InMemoryInbox<Since = unknown> implements Inbox {
  readonly #inboxes = new Map<string, StoredInbox<Since>>();
  readonly #now: () => Since;
  readonly #onUse: (written?: Slot) => void;

  /**
   * @param now - tells the time for {@link inputSince}, in the terms of the store's listings
   * @param onUse - called before every command, with the slot that is written to
   */
  constructor(now: () => Since, onUse: (written?: Slot) => void = () => {}) {
    this.#now = now;
    this.#onUse = onUse;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    const owner = checkSlot(slot);
    this.#onUse(owner);
    this.stage(owner, entry)();
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    this.#onUse();
    return this.entriesOf(checkSlot(slot));
  }

  async remove(slot: Slot, ids: readonly string[]): Promise<void> {
    this.drop(checkSlot(slot), ids);
  }

  /** Copies an entry and returns the function that puts it, which throws `StateTooLargeError` when there is no room. */
  stage(slot: Slot, entry: InboxEntry): () => void {
    const text = JSON.stringify(entry);
    const added = {
      id: entry.id,
      isInput: entry.kind === "input",
      text,
      bytes: Buffer.byteLength(text, "utf8"),
    };
    const key = slotText(slot);
    return () => {
      const { entries = [], inputSince } = this.#inboxes.get(key) ?? {};
      if (entries.some(({ id }) => id === added.id)) return;
      const after = [...entries, added];
      const bytes = after.reduce((sum, each) => sum + each.bytes, 0);
      checkInboxUse(slot, { entries: after.length, bytes });
      const since = inputSince ?? (added.isInput ? this.#now() : undefined);
      this.#inboxes.set(key, { slot, entries: after, inputSince: since });
    };
  }

  /** Returns copies of the entries of a slot, oldest first. */
  entriesOf(slot: Slot): InboxEntry[] {
    const { entries = [] } = this.#inboxes.get(slotText(slot)) ?? {};
    return entries.map(({ text }) => JSON.parse(text) as InboxEntry);
  }

  /** Returns since when the input of a call waits in the inbox of a slot; undefined when none does. */
  inputSince(slot: Slot): Since | undefined {
    return this.#inboxes.get(slotText(slot))?.inputSince;
  }

  /** Returns the slots in whose inboxes the input of a call waits, and since when. */
  slotsWithInput(): { readonly slot: Slot; readonly since: Since }[] {
    return [...this.#inboxes.values()].flatMap(({ slot, inputSince }) =>
      inputSince === undefined ? [] : { slot, since: inputSince },
    );
  }

  /** Removes entries by id. */
  drop(slot: Slot, ids: readonly string[]): void {
    const key = slotText(slot);
    const inbox = this.#inboxes.get(key);
    if (inbox === undefined) return;
    const left = inbox.entries.filter(({ id }) => !ids.includes(id));
    const inputSince = left.some(({ isInput }) => isInput) ? inbox.inputSince : undefined;
    if (left.length > 0) this.#inboxes.set(key, { ...inbox, entries: left, inputSince });
    else this.#inboxes.delete(key);
  }

  /** Removes every entry of a slot. */
  empty(slot: Slot): void {
    this.#inboxes.delete(slotText(slot));
  }
}
