import type { Revision, Slot, SlotPage, SlotQuery } from "@holdfast/core";
import { type StateWrite, slotText } from "@holdfast/core/store-kit";
import { ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

const exactly = "of the waiting shows exactly those";
const repeated = "a repeated save neither begins nor ends a wait";
const refused = "a refused save neither begins nor ends a wait";

class ListsAll extends ReferenceStore {
  override async list({ waiting: _, ...query }: SlotQuery = {}): Promise<SlotPage> {
    return super.list(query);
  }
}
catches("ignoring the filter", casesOf(ListsAll), exactly);
catches("ignoring the filter", casesOf(ListsAll), "input alone makes no session wait");

class EitherFilter extends ReferenceStore {
  override async list({ unfinished, ...query }: SlotQuery = {}): Promise<SlotPage> {
    return super.list(query.waiting ? query : { ...query, unfinished });
  }
}
catches("one filter of two", casesOf(EitherFilter), exactly);
catches("one filter of two", casesOf(EitherFilter), "makes it unfinished too");

class AnyWaiting extends ReferenceStore {
  override async list({ waiting, ...query }: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list(query);
    if (waiting !== true) return page;
    const slots = page.slots.filter(({ info }) =>
      JSON.stringify(info ?? {}).includes('"waiting":true'),
    );
    return { ...page, slots };
  }
}
catches("facts taken for the flag", casesOf(AnyWaiting), exactly);

class EndsEarly extends ReferenceStore {
  override async list({ waiting, ...query }: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list(query);
    if (waiting !== true) return page;
    const slots = page.slots.filter(({ info }) => info?.waiting === true);
    return slots.length === 0 ? { slots } : { ...page, slots };
  }
}
catches("a listing that ends early", casesOf(EndsEarly), "few waiting sessions among many");

/** A store with an index of its own, which the broken ones below keep badly. */
abstract class Indexed extends ReferenceStore {
  protected abstract readonly index: Set<string>;

  override async list(query: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list(query);
    if (query.waiting !== true) return page;
    return { ...page, slots: page.slots.filter(({ slot }) => this.index.has(slotText(slot))) };
  }
}

class LateRemoval extends Indexed {
  protected readonly index = new Set<string>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    if (write.info?.waiting === true) this.index.add(slotText(slot));
    const revision = await super.save(slot, write);
    // Also when the save was repeated, and the session waits by now.
    if (write.info !== undefined && !write.info.waiting) this.index.delete(slotText(slot));
    return revision;
  }
}
catches("a repeated save that unlists", casesOf(LateRemoval), repeated);
catches("an index of its own process", casesOf(LateRemoval), "see each other's waits");

class EarlyRemoval extends Indexed {
  protected readonly index = new Set<string>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    if (write.info?.waiting) this.index.add(slotText(slot));
    else if (write.info) this.index.delete(slotText(slot));
    return super.save(slot, write);
  }
}
catches("unlisting before comparing", casesOf(EarlyRemoval), refused);

class OfTheLastSave extends Indexed {
  protected readonly index = new Set<string>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const revision = await super.save(slot, write);
    this.index[write.info?.waiting === true ? "add" : "delete"](slotText(slot));
    return revision;
  }
}
catches("waits of one save", casesOf(OfTheLastSave), "for as long as its last facts say so");

/** Shows what its index has, which is never cleared. */
class ShowsStale extends ReferenceStore {
  readonly #waited = new Set<string>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    if (write.info?.waiting === true) this.#waited.add(slotText(slot));
    return super.save(slot, write);
  }
  override async list({ waiting, ...query }: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list(query);
    if (waiting !== true) return page;
    return { ...page, slots: page.slots.filter(({ slot }) => this.#waited.has(slotText(slot))) };
  }
}
catches("stale entries shown", casesOf(ShowsStale), "for as long as its last facts say so");
catches("stale entries shown", casesOf(ShowsStale), "a deleted session does not wait");
catches("stale entries shown", casesOf(ShowsStale), refused);

/** Pages by the last save, so that a session saved while it is listed moves past the reader. */
class MovesSaved extends ReferenceStore {
  protected override placeOf({ savedAt }: { savedAt: number }): number {
    return savedAt;
  }
}
catches("pages by the last save", casesOf(MovesSaved), "of the waiting misses none");
