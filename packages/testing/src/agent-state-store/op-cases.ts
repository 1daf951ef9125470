import assert from "node:assert/strict";
import type { Revision } from "@holdfast/core";
import { nextRevision, REMEMBERED_OPS, type StateWrite } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** A save whose answer was lost is recognised when it is repeated. */
export function opCases(check: StoreCase): ConformanceCase[] {
  return [
    check("a repeated save returns the same revision and is applied once", async (store) => {
      const first = firstWrite(slot, numberedMessages(2));
      const created = await store.save(slot, first);
      assert.equal(await store.save(slot, first), created);
      const second = nextWrite(await loadState(store, slot), numberedMessages(1));
      const revision = await store.save(slot, second);
      const stored = await loadState(store, slot);
      assert.equal(await store.save(slot, second), revision);
      assert.equal(stored.messages.length, 3);
      await assertStored(store, slot, stored);
    }),
    check(
      "a save repeated after another writer's is recognised and undoes nothing",
      async (store) => {
        const first = firstWrite(slot, numberedMessages(1));
        const revision = await store.save(slot, first);
        await store.save(
          slot,
          nextWrite(await loadState(store, slot), numberedMessages(1, "other")),
        );
        const stored = await loadState(store, slot);
        assert.equal(await store.save(slot, first), revision);
        await assertStored(store, slot, stored);
      },
    ),
    check("a repeated op is recognised whatever revision it expects", async (store) => {
      const first = firstWrite(slot, numberedMessages(1));
      const revision = await store.save(slot, first);
      const stored = await loadState(store, slot);
      // This one would pass the comparison, so only the op can stop it.
      const again = nextWrite(stored, numberedMessages(1, "again"), { op: first.op });
      assert.equal(await store.save(slot, again), revision);
      await assertStored(store, slot, stored);
    }),
    check(`each of the last ${REMEMBERED_OPS} saves is recognised`, async (store) => {
      const done: { write: StateWrite; revision: Revision }[] = [];
      for (const message of numberedMessages(REMEMBERED_OPS + 4)) {
        const write =
          done.length === 0
            ? firstWrite(slot, [message])
            : nextWrite(await loadState(store, slot), [message]);
        done.push({ write, revision: await store.save(slot, write) });
      }
      const stored = await loadState(store, slot);
      for (const { write, revision } of done.slice(-REMEMBERED_OPS))
        assert.equal(await store.save(slot, write), revision);
      await assertStored(store, slot, stored);
    }),
    check("the same save sent several times at once is applied once", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const write = nextWrite(await loadState(store, slot), numberedMessages(1));
      const revisions = await Promise.all([1, 2, 3, 4].map(() => store.save(slot, write)));
      assert.equal(new Set(revisions).size, 1, "one revision for one save");
      assert.equal((await loadState(store, slot)).messages.length, 2);
    }),
    check("a refused save was not done: its op is free to be used", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const stale = await loadState(store, slot);
      await store.save(slot, nextWrite(stale, numberedMessages(1, "other")));
      const write = nextWrite(stale, numberedMessages(1, "mine"));
      await assertRejects(() => store.save(slot, write), "StateConflictError", "a stale save");
      const current = await loadState(store, slot);
      const again = nextWrite(current, write.append, { op: write.op });
      const revision = await store.save(slot, again);
      await assertStored(store, slot, {
        revision,
        head: current.head,
        messages: [...current.messages, ...write.append],
      });
    }),
    check("a save may name the revision it is to produce", async (store) => {
      const first = firstWrite(slot, numberedMessages(1), { revision: nextRevision(null) });
      assert.equal(await store.save(slot, first), first.revision);
      const second = nextWrite(await loadState(store, slot), numberedMessages(1), {
        revision: nextRevision(first.revision ?? null),
      });
      assert.equal(await store.save(slot, second), second.revision);
      assert.equal((await loadState(store, slot)).revision, second.revision);
      const again = { ...second, revision: nextRevision(first.revision ?? null) };
      assert.equal(
        await store.save(slot, again),
        second.revision,
        "a repeated save was done before",
      );
    }),
    check("a copy keeps the revision of what it is a copy of, however late", async (store) => {
      const late = `4711.${"5a".repeat(16)}`;
      const copy = firstWrite(slot, numberedMessages(2), { revision: late });
      assert.equal(await store.save(slot, copy), late);
      assert.equal((await loadState(store, slot)).revision, late);
      // The next copy skips the saves in between; its op alone shows that it is a copy.
      const later = `4727.${"a5".repeat(16)}`;
      const update = { ...copy, op: "copy of 4727", expected: late, revision: later };
      assert.equal(await store.save(slot, update), later);
      const stored = await loadState(store, slot);
      const expected = `0.${"0".repeat(32)}`;
      assert.equal(await store.save(slot, { ...update, expected, append: [] }), later);
      await assertRejects(
        () => store.save(slot, { ...update, op: "another", expected }),
        "StateConflictError",
        "a save based on what never was",
      );
      await assertStored(store, slot, stored);
      const next = await store.save(slot, nextWrite(stored, numberedMessages(1, "next")));
      assert.match(next, /^4728\./, "numbers go on from there");
    }),
    check("ops of one slot mean nothing to another", async (store) => {
      const other = { ...slot, sessionId: "other" };
      const write = firstWrite(slot, numberedMessages(1));
      await store.save(slot, write);
      await store.save(other, { ...write, append: [] });
      assert.equal((await loadState(store, other)).messages.length, 0);
      assert.equal((await loadState(store, slot)).messages.length, 1);
    }),
  ];
}
