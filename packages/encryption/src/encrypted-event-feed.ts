import type { EventFeed, Reach, Slot } from "@holdfast/core";
import type { FeedBatch, FeedPage } from "@holdfast/core/store-kit";
import { checkSlot, describeSlot, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { Seals } from "./seals.js";

/** Event feed whose backend sees the ids of calls and runs and the numbers of events, but not the events. */
export class EncryptedEventFeed implements EventFeed {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly watch?: NonNullable<EventFeed["watch"]>;
  readonly #inner: EventFeed;
  readonly #ring: KeyRing;

  constructor(inner: EventFeed, ring: KeyRing) {
    this.contract = inner.contract;
    this.kind = `encrypted-${inner.kind}`;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
    if (inner.watch) this.watch = inner.watch.bind(inner);
  }

  async append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null> {
    const owner = checkSlot(slot);
    const { runId, count } = batch;
    // Not to its number, which a run that takes the feed over does not know.
    const body = this.#seals(owner).seal(batch.body, callId, runId, String(count));
    return this.#inner.append(owner, callId, { ...batch, body });
  }

  async read(slot: Slot, callId: string, after: number): Promise<FeedPage | null> {
    const owner = checkSlot(slot);
    const page = await this.#inner.read(owner, callId, after);
    if (page === null) return null;
    const seals = this.#seals(owner);
    const what = `an event of ${describeSlot(owner)}`;
    const batches = page.batches.map((batch) => ({
      ...batch,
      body: seals.openText(batch.body, what, callId, batch.runId, String(batch.count)),
    }));
    return { ...page, batches };
  }

  open(slot: Slot): Promise<readonly string[]> {
    return this.#inner.open(slot);
  }

  delete(slot: Slot): Promise<void> {
    return this.#inner.delete(slot);
  }

  #seals(slot: Slot): Seals {
    return new Seals(this.#ring, "holdfast.events.1", slotText(slot));
  }
}
