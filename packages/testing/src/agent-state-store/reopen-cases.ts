import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { awkwardMessages, numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { assertNothingLost } from "./conflict-cases.js";
import { everySlot } from "./list-cases.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Two instances over the same data, as two processes would have. */
export function reopenCases(check: StoreCase): ConformanceCase[] {
  return [
    check("an acknowledged save is seen by a second instance", async (store, reopen) => {
      const write = firstWrite(slot, awkwardMessages());
      const revision = await store.save(slot, write);
      const second = await reopen();
      await assertStored(second, slot, { revision, head: write.head, messages: write.append });
      const next = nextWrite(await loadState(second, slot), numberedMessages(2));
      await second.save(slot, next);
      await assertStored(store, slot, await loadState(second, slot));
      assert.deepStrictEqual(await everySlot(second, {}), [slot]);
    }),
    check("a save based on what another instance overwrote is refused", async (store, reopen) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const second = await reopen();
      const stale = await loadState(second, slot);
      await store.save(slot, nextWrite(stale, numberedMessages(1)));
      const stored = await loadState(store, slot);
      const late = nextWrite(stale, numberedMessages(1));
      await assertRejects(() => second.save(slot, late), "StateConflictError", "a stale save");
      await assertStored(second, slot, stored);
    }),
    check(
      "a revision known from before another instance's save is not current",
      async (store, reopen) => {
        const known = await store.save(slot, firstWrite(slot, numberedMessages(1)));
        const second = await reopen();
        await second.save(slot, nextWrite(await loadState(second, slot), numberedMessages(1)));
        const loaded = await store.load(slot, known);
        assert.ok(loaded !== null && loaded !== "unchanged");
        assert.equal(loaded.revision, (await loadState(second, slot)).revision);
      },
    ),
    check("a save repeated through another instance is recognised", async (store, reopen) => {
      const write = firstWrite(slot, numberedMessages(1));
      const revision = await store.save(slot, write);
      const second = await reopen();
      assert.equal(await second.save(slot, write), revision);
      assert.equal((await loadState(second, slot)).messages.length, 1);
    }),
    check("a delete is seen by a second instance", async (store, reopen) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const second = await reopen();
      await loadState(second, slot);
      assert.equal(await store.delete(slot), true);
      assert.equal(await second.load(slot), null);
    }),
    check(
      "many writers over two instances lose nothing and double nothing",
      async (store, reopen) => {
        await assertNothingLost([store, await reopen()]);
      },
    ),
  ];
}
