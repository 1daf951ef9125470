import type { EventFeed, Slot } from "@holdfast/core";
import { type FeedBatch, type FeedPage, InMemoryEventFeed } from "@holdfast/core/store-kit";
import { eventFeedCases } from "../../src/event-feed/describe-event-feed.js";
import { catches } from "./catches.js";

type Append = Parameters<EventFeed["append"]>;

function feedOf(feed: typeof InMemoryEventFeed) {
  return eventFeedCases({ create: (limits) => new feed(limits), reopen: (first) => first });
}

class AnyRun extends InMemoryEventFeed {
  override async append(...[slot, callId, batch]: Append) {
    return super.append(slot, callId, { ...batch, runId: "r" });
  }
}
catches("a feed of any run", feedOf(AnyRun), "a batch of another run is refused");
catches("a feed of any run", feedOf(AnyRun), "one has it");
catches("a feed of any run", feedOf(AnyRun), "goes on behind its last event");

class NumbersAnew extends InMemoryEventFeed {
  override async append(...[slot, callId, batch]: Append) {
    if (batch.first === undefined) await this.delete(slot);
    return super.append(slot, callId, batch);
  }
}
catches("a take-over that numbers anew", feedOf(NumbersAnew), "goes on behind its last event");

class TakesAlways extends InMemoryEventFeed {
  #count = 0;
  override async append(...[slot, callId, batch]: Append) {
    const page = await this.read(slot, callId, 2 ** 50);
    const isRepeated = batch.first !== undefined && batch.first <= (page?.last ?? -1);
    const first = isRepeated ? 1_000 + this.#count++ : batch.first;
    await super.append(slot, callId, { ...batch, first });
    return batch.first ?? null;
  }
}
catches("repeats that count", feedOf(TakesAlways), "a batch that is repeated changes nothing");

class KnowsAll extends InMemoryEventFeed {
  override async read(slot: Slot, callId: string): Promise<FeedPage | null> {
    return super.read(slot, callId, -1);
  }
}
catches("all events every time", feedOf(KnowsAll), "leaves out what is known");

class OneCall extends InMemoryEventFeed {
  override async append(...[slot, , batch]: Append) {
    return super.append(slot, "one", batch);
  }
  override async read(slot: Slot, _: string, after: number) {
    return super.read(slot, "one", after);
  }
}
catches("one feed for all calls", feedOf(OneCall), "never meet, whatever the ids");
catches("one feed for all calls", feedOf(OneCall), "in the order in which they began");

class Endless extends InMemoryEventFeed {
  constructor() {
    super({});
  }
}
catches("no bounds", feedOf(Endless), "drops its oldest batches");

class Unending extends InMemoryEventFeed {
  override async append(slot: Slot, callId: string, batch: FeedBatch) {
    return super.append(slot, callId, { ...batch, ends: false });
  }
}
catches("ends that are not noted", feedOf(Unending), "whether it has ended");
catches("ends that are not noted", feedOf(Unending), "in the order in which they began");

class DeletesAll extends InMemoryEventFeed {
  override async delete(slot: Slot): Promise<void> {
    for (const sessionId of [slot.sessionId, "other"]) await super.delete({ ...slot, sessionId });
  }
}
catches(
  "a delete that takes more",
  feedOf(DeletesAll),
  "removes the feeds of a slot, and no others",
);

class StaysAwake extends InMemoryEventFeed {
  override async watch(...args: Parameters<InMemoryEventFeed["watch"]>) {
    await super.watch(...args);
    return () => undefined;
  }
}
catches("watches that stay", feedOf(StaysAwake), "of none after it ended");
