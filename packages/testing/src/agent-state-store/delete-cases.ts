import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { everySlot } from "./list-cases.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Deleting a state. */
export function deleteCases(check: StoreCase): ConformanceCase[] {
  return [
    check(
      "a deleted state is absent, and only the first delete says it was there",
      async (store) => {
        assert.equal(await store.delete(slot), false);
        await store.save(slot, firstWrite(slot, numberedMessages(2)));
        assert.equal(await store.delete(slot), true);
        assert.equal(await store.load(slot), null);
        assert.equal(await store.delete(slot), false);
        assert.deepStrictEqual(await everySlot(store, {}), []);
      },
    ),
    check("a save based on a deleted state is refused", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(2)));
      const stale = await loadState(store, slot);
      await store.delete(slot);
      const write = nextWrite(stale, numberedMessages(1));
      await assertRejects(
        () => store.save(slot, write),
        "StateConflictError",
        "a save after delete",
      );
      assert.equal(await store.load(slot), null);
    }),
    check(
      "a slot can be used again after a delete, and what was before stays refused",
      async (store) => {
        await store.save(slot, firstWrite(slot, numberedMessages(3, "old")));
        const stale = await loadState(store, slot);
        await store.delete(slot);
        const write = firstWrite(slot, numberedMessages(1, "new"));
        const revision = await store.save(slot, write);
        assert.notEqual(revision, stale.revision);
        const late = nextWrite(stale, numberedMessages(1));
        await assertRejects(
          () => store.save(slot, late),
          "StateConflictError",
          "a save from before",
        );
        await assertStored(store, slot, { revision, head: write.head, messages: write.append });
      },
    ),
    check("a delete forgets the ops: the same save can be made again", async (store) => {
      const write = firstWrite(slot, numberedMessages(1));
      const revision = await store.save(slot, write);
      await store.delete(slot);
      const again = await store.save(slot, write);
      assert.notEqual(again, revision, "the save was made, not remembered");
      await assertStored(store, slot, { ...write, revision: again, messages: write.append });
    }),
    check("deleting a slot leaves the others alone", async (store) => {
      const others = [
        { ...slot, agentId: "other" },
        { ...slot, userId: "other" },
        { ...slot, userId: null },
        { ...slot, sessionId: "other" },
      ];
      for (const each of [slot, ...others]) await store.save(each, firstWrite(each, []));
      await store.delete(slot);
      for (const each of others) await loadState(store, each);
    }),
  ];
}
