import type { Revision, SessionInfo, Slot, SlotPage, SlotQuery } from "@holdfast/core";
import { type CallRecord, type StateWrite, slotText } from "@holdfast/core/store-kit";
import {
  type ListedSession,
  ReferenceStore,
  type StoredState,
} from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

class OldestFirst extends ReferenceStore {
  protected override recordsAfter(stored: readonly CallRecord[], write: StateWrite) {
    return super.recordsAfter(stored.toReversed(), write).toReversed();
  }
}
catches("the oldest record first", casesOf(OldestFirst), "records of calls come back newest first");
catches("the oldest record first", casesOf(OldestFirst), "is the one found first");

class KeepsAll extends ReferenceStore {
  protected override recordsAfter(stored: readonly CallRecord[], { callRecord }: StateWrite) {
    return callRecord ? [callRecord.record, ...stored] : stored;
  }
}
catches("keeping every record", casesOf(KeepsAll), "records of calls come back newest first");

class OfTheLastSave extends ReferenceStore {
  protected override recordsAfter(_stored: readonly CallRecord[], write: StateWrite) {
    return super.recordsAfter([], write);
  }
}
catches("records of one save", casesOf(OfTheLastSave), "records of calls come back newest first");
catches("records of one save", casesOf(OfTheLastSave), "another instance sees the records");

class RecordsTwice extends ReferenceStore {
  protected override remembers(): boolean {
    return false;
  }
  protected override conflicts(): boolean {
    return false;
  }
}
catches("records without comparing", casesOf(RecordsTwice), "a refused save records no call");

class RemembersDeleted extends ReferenceStore {
  readonly #deleted = new Map<string, CallRecord[]>();
  protected override recordsAfter(stored: readonly CallRecord[], write: StateWrite) {
    const records = super.recordsAfter(stored, write);
    const kept = records.length > 0 ? records : (this.#deleted.get("all") ?? []);
    this.#deleted.set("all", [...kept]);
    return kept;
  }
}
catches("records that outlive", casesOf(RemembersDeleted), "after a delete remembers no call");

class ForgetsInfo extends ReferenceStore {
  protected override infoAfter(_stored: SessionInfo | undefined, write: StateWrite) {
    return write.info;
  }
}
catches("facts of one save", casesOf(ForgetsInfo), "the facts of the last save that gave any");

class MergesInfo extends ReferenceStore {
  protected override infoAfter(stored: SessionInfo | undefined, write: StateWrite) {
    return stored || write.info ? { ...stored, ...write.info } : undefined;
  }
}
catches("facts that pile up", casesOf(MergesInfo), "the facts of the last save that gave any");

class InfoFirst extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const stored = this.backend.states.get(slotText(slot));
    if (stored) stored.info = this.infoAfter(stored.info, write);
    return super.save(slot, write);
  }
}
catches("facts before comparing", casesOf(InfoFirst), "repeated save changes no facts");

class IgnoresInbox extends ReferenceStore {
  protected override infoOf({ info }: ListedSession): SessionInfo | undefined {
    return info;
  }
}
catches("facts without the inbox", casesOf(IgnoresInbox), "is unfinished until it is taken");
catches("facts without the inbox", casesOf(IgnoresInbox), "unfinished from the grant");

class LoadsNoFacts extends ReferenceStore {
  protected override loadedInfo(): { info?: SessionInfo } {
    return {};
  }
}
catches("a load without facts", casesOf(LoadsNoFacts), "the facts of the last save that gave any");

class LoadsListedFacts extends ReferenceStore {
  protected override loadedInfo(stored: StoredState): { info?: SessionInfo | undefined } {
    const info = this.infoOf(stored);
    return info ? { info } : {};
  }
}
catches("a load of listed facts", casesOf(LoadsListedFacts), "is unfinished until it is taken");

class ListsAll extends ReferenceStore {
  override async list({ unfinished: _, ...query }: SlotQuery = {}): Promise<SlotPage> {
    return super.list(query);
  }
}
catches("ignoring the filter", casesOf(ListsAll), "of the unfinished shows exactly those");
catches("ignoring the filter", casesOf(ListsAll), "has none of the facts before");

class MovesSaved extends ReferenceStore {
  protected override placeOf({ savedAt }: ListedSession): number {
    return savedAt;
  }
}
catches("pages by the last save", casesOf(MovesSaved), "misses no session that was there");

class StartsOver extends ReferenceStore {
  override async list({ cursor, ...query }: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list({ ...query, cursor });
    return page.cursor === undefined && cursor !== undefined ? super.list(query) : page;
  }
}
catches("a listing that never ends", casesOf(StartsOver), "misses no session that was there");

class EndsEarly extends ReferenceStore {
  override async list({ unfinished, ...query }: SlotQuery = {}): Promise<SlotPage> {
    const page = await super.list(query);
    if (unfinished !== true) return page;
    const slots = page.slots.filter(({ info }) => info?.unfinished === true);
    return slots.length === 0 ? { slots } : { ...page, slots };
  }
}
catches("a listing that ends early", casesOf(EndsEarly), "few unfinished sessions among many");
