import type { Revision, Slot, SlotPage, SlotQuery } from "@holdfast/core";
import { type LoadedState, type StateWrite, slotText } from "@holdfast/core/store-kit";
import { ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

class AbsenceForErrors extends ReferenceStore {
  override async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    return super.load(slot, known).catch(() => null);
  }
  override async list(query?: SlotQuery): Promise<SlotPage> {
    return super.list(query).catch(() => ({ slots: [] }));
  }
}
catches("absence for errors", casesOf(AbsenceForErrors), "damaged data fails to load");
catches("absence for errors", casesOf(AbsenceForErrors), "an outage fails every method");
catches("absence for errors", casesOf(AbsenceForErrors), "not an id is refused by every method");

class AsksFirst extends ReferenceStore {
  override async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    await this.connect();
    return super.load(slot, known);
  }
}
catches("I/O before checking ids", casesOf(AsksFirst), "refused before any I/O");

class AlwaysUnchanged extends ReferenceStore {
  override async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const loaded = await super.load(slot);
    return loaded !== null && known !== undefined ? "unchanged" : loaded;
  }
}
catches("a trusted cache", casesOf(AlwaysUnchanged), '"unchanged" is answered for the current');
catches("a trusted cache", casesOf(AlwaysUnchanged), "is not current");

class IgnoresLeases extends ReferenceStore {
  protected override leaseHolds(): boolean {
    return true;
  }
}
catches("ignoring leases", casesOf(IgnoresLeases), "under a lease that ended is refused");

class ReleasesFirst extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    try {
      return await super.save(slot, write);
    } finally {
      if (write.release) this.backend.gate.releaseToken(slot, write.lease as string);
    }
  }
}
catches("releasing on conflict", casesOf(ReleasesFirst), "a save that conflicts keeps its lease");

class LeaseBeforeOp extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const isHeld = write.lease === undefined || this.leaseHolds(slot, write.lease);
    return super.save(slot, isHeld ? write : { ...write, op: `${write.op}*` });
  }
}
catches("the lease before the op", casesOf(LeaseBeforeOp), "although its lease was released");

class LogsFirst extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    this.backend.log.add(slot, write.log ?? []);
    return super.save(slot, write);
  }
}
catches("logging before comparing", casesOf(LogsFirst), "refused are not in the log");

class ForgetsFilters extends ReferenceStore {
  override async list(query: SlotQuery = {}): Promise<SlotPage> {
    return super.list({ ...query, userId: query.userId ?? undefined });
  }
}
catches("null for any user", casesOf(ForgetsFilters), "anonymous ones for null");

class RepeatsPages extends ReferenceStore {
  override async list(query: SlotQuery = {}): Promise<SlotPage> {
    const { cursor } = query;
    return super.list(cursor === undefined ? query : { ...query, cursor: `${Number(cursor) + 1}` });
  }
}
catches("overlapping pages", casesOf(RepeatsPages), "every one of 150 sessions exactly once");

class TornReads extends ReferenceStore {
  override async load(slot: Slot): Promise<LoadedState | null> {
    const head = (await super.load(slot)) as LoadedState | null;
    const messages = (await super.load(slot)) as LoadedState | null;
    return head && messages && { ...head, messages: messages.messages };
  }
}
catches("head and messages read apart", casesOf(TornReads), "never a mix");

class Undeletable extends ReferenceStore {
  override async delete(slot: Slot): Promise<boolean> {
    return this.backend.states.has(slotText(slot));
  }
}
catches("a delete that keeps", casesOf(Undeletable), "a deleted state is absent");

class HidesFuses extends ReferenceStore {
  override readonly fuses = {} as ReferenceStore["fuses"];
}
catches("claims about fuses", casesOf(HidesFuses), "the suite knows what it fuses and keeps");
