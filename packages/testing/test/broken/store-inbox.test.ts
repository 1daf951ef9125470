import type { Revision, Slot } from "@holdfast/core";
import { type InboxEntry, type StateWrite, slotText } from "@holdfast/core/store-kit";
import { ReferenceGate } from "../reference/reference-gate.js";
import { ReferenceInbox } from "../reference/reference-inbox.js";
import { ReferenceBackend, ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

/** Every case of the suite, against stores with this inbox or gate. */
function withParts(...parts: ConstructorParameters<typeof ReferenceBackend>) {
  return casesOf(
    class extends ReferenceStore {
      constructor(backend = new ReferenceBackend(...parts)) {
        super(backend);
      }
    },
  );
}

class PutsAgain extends ReferenceInbox {
  protected override isThere(): boolean {
    return false;
  }
}
catches("putting twice", withParts(PutsAgain), "there already is not put again");
catches("putting twice", withParts(PutsAgain), "is not put by a grant again");

class CountsUnits extends ReferenceInbox {
  protected override sizeOf(text: string): number {
    return text.length;
  }
}
catches("counting UTF-16 units", withParts(CountsUnits), "holds 8 MiB of entries and refuses");

class Unbounded extends ReferenceInbox {
  override add(slot: Slot, entry: InboxEntry): void {
    const texts = this.held.get(slotText(slot)) ?? [];
    if (!this.isThere(slot, entry))
      this.held.set(slotText(slot), [...texts, JSON.stringify(entry)]);
  }
}
catches("an unbounded inbox", withParts(Unbounded), "holds 100 entries and refuses more");
catches("an unbounded inbox", withParts(Unbounded), "finds no room does not get the slot");

class NewestFirst extends ReferenceInbox {
  override entries(slot: Slot): InboxEntry[] {
    return super.entries(slot).reverse();
  }
}
catches("the newest entry first", withParts(NewestFirst), "come back as they were put, in order");
catches("the newest entry first", withParts(NewestFirst), "brings the inbox along, its own");

class OneForAll extends ReferenceInbox {
  override entries(): InboxEntry[] {
    return [...this.held.values()].flat().map((text) => JSON.parse(text));
  }
}
catches("one inbox for all", withParts(OneForAll), "every slot has an inbox of its own");

class PutsWhenAsked extends ReferenceGate {
  override async acquire(...[slot, request]: Parameters<ReferenceGate["acquire"]>) {
    if (request.put) this.parts?.put(slot, request.put);
    return super.acquire(slot, request);
  }
}
const eager = [ReferenceInbox, PutsWhenAsked] as const;
catches("putting before the grant", withParts(...eager), "appears when it is granted");
catches("putting before the grant", withParts(...eager), "gives up leaves no entry");

class GrantsWithout extends ReferenceGate {
  protected override putOrLeave(slot: Slot, _token: string, entry: InboxEntry): void {
    try {
      this.parts?.put(slot, entry);
    } catch {
      // Granted all the same.
    }
  }
}
catches(
  "a grant without its entry",
  withParts(ReferenceInbox, GrantsWithout),
  "finds no room does not get the slot",
);

class HoldsOn extends ReferenceGate {
  protected override putOrLeave(slot: Slot, _token: string, entry: InboxEntry): void {
    this.parts?.put(slot, entry);
  }
}
catches(
  "a refused call that keeps the slot",
  withParts(ReferenceInbox, HoldsOn),
  "finds no room does not get the slot",
);

class DropsLate extends ReferenceGate {
  protected override mayDrop(): boolean {
    return true;
  }
}
const late = [ReferenceInbox, DropsLate] as const;
catches("a late release that drops", withParts(...late), "a late one nothing");
catches("a late release that drops", withParts(...late), "outlives its lost lease");

class DropsNothing extends ReferenceGate {
  protected override mayDrop(): boolean {
    return false;
  }
}
catches(
  "a release that keeps what it drops",
  withParts(ReferenceInbox, DropsNothing),
  "a release removes the entries it drops",
);

class TakesNothing extends ReferenceStore {
  protected override take(): void {}
}
catches("a save that takes nothing", casesOf(TakesNothing), "removes the entries it takes");

class TakesFirst extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    this.take(slot, write);
    return super.save(slot, write);
  }
}
catches("taking before comparing", casesOf(TakesFirst), "a save that conflicts takes no entry");
catches("taking before comparing", casesOf(TakesFirst), "whose lease has ended takes no entry");
catches("taking before comparing", casesOf(TakesFirst), "a repeated save takes nothing twice");

class KeepsInbox extends ReferenceStore {
  protected override emptyInbox(): void {}
}
catches(
  "a delete that keeps the inbox",
  casesOf(KeepsInbox),
  "deleting a session empties its inbox",
);

class HidesInbox extends ReferenceStore {
  override readonly inbox = undefined as unknown as ReferenceInbox;
}
catches("claims about the inbox", casesOf(HidesInbox), "the suite knows what it fuses and keeps");
