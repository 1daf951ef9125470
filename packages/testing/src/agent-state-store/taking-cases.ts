import assert from "node:assert/strict";
import type { Lease } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { gateOf } from "./fused-gate-cases.js";
import { assertInbox, inboxOf } from "./inbox-cases.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Saves that take inbox entries in: removed with the save, or not at all. */
export function takingCases(check: StoreCase): ConformanceCase[] {
  return [
    check("a save removes the entries it takes, and no others", async (store) => {
      const gate = gateOf(store);
      const [said, put, later] = [inboxEntry("said"), inboxEntry("put"), inboxEntry("later")];
      await inboxOf(store).put(slot, said);
      const lease = await gate.acquire(slot, { callId: "c-1", put });
      await inboxOf(store).put(slot, later);
      const step = firstWrite(slot, numberedMessages(1), { lease: lease.token, takes: [put.id] });
      await store.save(slot, step);
      await assertInbox(store, [said, later]);
      const last = nextWrite(await loadState(store, slot), numberedMessages(1), {
        lease: lease.token,
        takes: [later.id, "not there"],
        release: true,
      });
      await store.save(slot, last);
      await assertInbox(store, [said]);
      const next = await gate.acquire(slot, { callId: "c-2" });
      assert.deepStrictEqual(next.inbox, [said]);
      await next.release();
    }),
    check("a save that conflicts takes no entry", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const stored = await loadState(store, slot);
      const put = inboxEntry("kept");
      const lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
      const stale = nextWrite(stored, [], {
        expected: null,
        lease: lease.token,
        takes: [put.id],
        release: true,
      });
      await assertRejects(() => store.save(slot, stale), "StateConflictError", "a stale save");
      await assertStored(store, slot, stored);
      await assertInbox(store, [put]);
      await lease.release();
    }),
    check("a save whose lease has ended takes no entry", async (store) => {
      const put = inboxEntry("kept");
      const old: Lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
      await old.release();
      const refuse = async (): Promise<void> => {
        const write = firstWrite(slot, [], { lease: old.token, takes: [put.id], release: true });
        await assertRejects(() => store.save(slot, write), "LeaseLostError", "a stale lease");
        assert.equal(await store.load(slot), null);
        await assertInbox(store, [put]);
      };
      await refuse();
      const current = await gateOf(store).acquire(slot, { callId: "c-2" });
      await refuse();
      await current.release();
    }),
    check("a repeated save takes nothing twice", async (store) => {
      const entry = inboxEntry("said twice");
      const lease = await gateOf(store).acquire(slot, { callId: "c-1", put: entry });
      const write = firstWrite(slot, numberedMessages(1), {
        lease: lease.token,
        takes: [entry.id],
        release: true,
      });
      const revision = await store.save(slot, write);
      await assertInbox(store, []);
      await inboxOf(store).put(slot, entry);
      assert.equal(await store.save(slot, write), revision);
      await assertInbox(store, [entry]);
    }),
  ];
}
