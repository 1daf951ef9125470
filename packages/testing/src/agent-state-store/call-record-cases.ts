import assert from "node:assert/strict";
import type { AgentStateStore } from "@holdfast/core";
import type { CallRecord } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { awkwardJson } from "../conformance/sample-entries.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { tamper } from "../conformance/tamper.js";
import { gateOf } from "./fused-gate-cases.js";
import { firstWrite, loadState, saveNext } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Stores that keep records of calls beside the head. */
export function callRecordCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "fuses" | "reopen">,
): ConformanceCase[] {
  const cases = [
    check("records of calls come back newest first, as many as are kept", async (store) => {
      await store.save(slot, firstWrite(slot, []));
      assert.deepStrictEqual(await recordsIn(store), []);
      const records = ["c-1", "c-2", "c-3", "c-4"].map((callId) => ({ callId, ...awkwardJson() }));
      for (const [index, record] of records.entries()) {
        await saveNext(store, slot, { callRecord: { record, keep: 3 } });
        const newest = records.slice(Math.max(0, index - 2), index + 1).reverse();
        assert.deepStrictEqual(await recordsIn(store), newest);
      }
      await saveNext(store, slot, {});
      assert.deepStrictEqual(await recordsIn(store), records.slice(1).reverse());
      await saveNext(store, slot, { callRecord: { record: { callId: "c-5" }, keep: 1 } });
      assert.deepStrictEqual(await recordsIn(store), [{ callId: "c-5" }]);
      await saveNext(store, slot, { callRecord: { record: { callId: "c-6" }, keep: 0 } });
      assert.deepStrictEqual(await recordsIn(store), []);
    }),
    check("the newest record of a call is the one found first", async (store) => {
      const [old, other, fresh] = [
        { callId: "c-1", state: "running" },
        { callId: "c-2", state: "done" },
        { callId: "c-1", state: "done" },
      ];
      await store.save(slot, firstWrite(slot, [], { callRecord: { record: old, keep: 10 } }));
      for (const record of [other, fresh])
        await saveNext(store, slot, { callRecord: { record, keep: 10 } });
      const found = await recordsIn(store);
      assert.deepStrictEqual(found.slice(0, 2), [fresh, other]);
      assert.ok(found.slice(2).every((record) => record.callId === "c-1"));
    }),
    check("a refused save records no call, a repeated one not twice", async (store) => {
      const write = firstWrite(slot, [], { callRecord: { record: { callId: "c-1" }, keep: 5 } });
      await store.save(slot, write);
      const refused = firstWrite(slot, [], { callRecord: { record: { callId: "c-2" }, keep: 1 } });
      await assertRejects(() => store.save(slot, refused), "StateConflictError", "a stale save");
      assert.deepStrictEqual(await recordsIn(store), [{ callId: "c-1" }]);
      await saveNext(store, slot, { callRecord: { record: { callId: "c-3" }, keep: 5 } });
      await store.save(slot, write);
      assert.deepStrictEqual(await recordsIn(store), [{ callId: "c-3" }, { callId: "c-1" }]);
    }),
    check("records of calls are copied when given and when returned", async (store) => {
      const record = { callId: "c-1", nested: { list: [1] } };
      const kept = structuredClone(record);
      const write = firstWrite(slot, numberedMessages(1), { callRecord: { record, keep: 5 } });
      await store.save(slot, write);
      tamper(record);
      tamper((await loadState(store, slot)).callRecords);
      assert.deepStrictEqual(await recordsIn(store), [kept]);
    }),
    check("a session made after a delete remembers no call", async (store) => {
      const callRecord = { record: { callId: "c-1" }, keep: 5 };
      await store.save(slot, firstWrite(slot, [], { callRecord }));
      await store.delete(slot);
      await store.save(slot, firstWrite(slot, []));
      assert.deepStrictEqual(await recordsIn(store), []);
      await saveNext(store, slot, { callRecord: { record: { callId: "c-2" }, keep: 5 } });
      assert.deepStrictEqual(await recordsIn(store), [{ callId: "c-2" }]);
    }),
  ];
  if (options.fuses?.includes("gate"))
    cases.push(
      check("a lease brings the records of calls along", async (store) => {
        const callRecord = { record: { callId: "c-1" }, keep: 5 };
        await store.save(slot, firstWrite(slot, [], { callRecord }));
        const lease = await gateOf(store).acquire(slot, { callId: "c-2" });
        assert.ok(typeof lease.loaded === "object" && lease.loaded !== null);
        assert.deepStrictEqual(lease.loaded.callRecords, [{ callId: "c-1" }]);
        await lease.release();
      }),
    );
  if (options.reopen !== undefined)
    cases.push(
      check("another instance sees the records of calls", async (store, reopen) => {
        const callRecord = { record: { callId: "c-1" }, keep: 5 };
        await store.save(slot, firstWrite(slot, [], { callRecord }));
        const other = await reopen();
        await saveNext(other, slot, { callRecord: { record: { callId: "c-2" }, keep: 5 } });
        assert.deepStrictEqual(await recordsIn(store), [{ callId: "c-2" }, { callId: "c-1" }]);
      }),
    );
  return cases;
}

async function recordsIn(store: AgentStateStore): Promise<readonly CallRecord[]> {
  return (await loadState(store, slot)).callRecords ?? [];
}
