import type { Revision, SessionInfo, Slot } from "@holdfast/core";
import { type StateWrite, slotText } from "@holdfast/core/store-kit";
import { sampleSlot } from "../../src/conformance/sample-slots.js";
import { type ListedSession, ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

class HidesUnsaved extends ReferenceStore {
  protected override neverSaved(): ListedSession[] {
    return [];
  }
}
const hides = casesOf(HidesUnsaved);
catches("hiding the never saved", hides, "listed as unfinished from its first grant on");
catches("hiding the never saved", hides, "whose first call died is listed until");
catches("hiding the never saved", hides, "saved sessions and others, page by page");
catches("hiding the never saved", hides, "another instance lists a session");
catches("hiding the never saved", hides, "that was never saved takes it from the listing");

class ListsSavedTwice extends ReferenceStore {
  protected override neverSaved(): ListedSession[] {
    const heard = [...this.backend.inbox.heard.values()];
    return heard.map(({ slot, at }) => ({ slot, info: undefined, savedAt: at, createdAt: at }));
  }
}
catches("listing by inbox and state", casesOf(ListsSavedTwice), "whether its first save took");

class ListsAnyInbox extends ReferenceStore {
  protected override neverSaved(): ListedSession[] {
    return [...this.backend.inbox.held.keys()]
      .filter((key) => !this.backend.states.has(key))
      .map((key) => ({ slot: sampleSlot, info: undefined, savedAt: 0, createdAt: key.length }));
  }
}
const anyInbox = casesOf(ListsAnyInbox);
catches("listing every inbox", anyInbox, "to a session that does not exist lists none");
catches("listing every inbox", anyInbox, "that is taken back leaves no session");

class ListsEveryLease extends ReferenceStore {
  protected override neverSaved(): ListedSession[] {
    const held = this.backend.gate.queues.has(slotText(sampleSlot));
    const isSaved = this.backend.states.has(slotText(sampleSlot));
    return held && !isSaved
      ? [{ slot: sampleSlot, info: undefined, savedAt: 0, createdAt: 1 }]
      : super.neverSaved();
  }
}
catches("listing every lease", casesOf(ListsEveryLease), "a call without input lists no session");

class UnsavedIsFinished extends ReferenceStore {
  protected override infoOf(listed: ListedSession): SessionInfo | undefined {
    return "revision" in listed ? super.infoOf(listed) : {};
  }
}
catches("an unsaved one as finished", casesOf(UnsavedIsFinished), "from its first grant on");

class UnsavedToTheFront extends ReferenceStore {
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    this.backend.inbox.heard.delete(slotText(slot));
    return super.save(slot, write);
  }
}
catches("a first save to the front", casesOf(UnsavedToTheFront), "saved for the first time");
