import assert from "node:assert/strict";
import { slotText } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { nastyIds } from "../conformance/nasty-ids.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import { batch, type FeedCase, readAll } from "./feed-case.js";

/** Cases about where feeds are, and about two instances over the same data. */
export function placeCases(check: FeedCase, canReopen: boolean): ConformanceCase[] {
  return [
    check("open calls are listed in the order in which they began", async (feed) => {
      const calls = ["z", "a", "m", "b"];
      for (const callId of calls) await feed.append(slot, callId, batch({ first: 0 }));
      await feed.append(slot, "z", batch({ first: 1 }));
      await feed.append(slot, "m", batch({ first: 1, ends: true }));
      assert.deepStrictEqual(await feed.open(slot), ["z", "a", "b"]);
    }),
    check("feeds of different slots and calls never meet, whatever the ids", async (feed) => {
      const slots = nastySlots();
      await inBatches(slots, 16, (each) =>
        feed.append(each, "c", batch({ first: 0, body: slotText(each) })),
      );
      await inBatches(nastyIds, 16, (callId) =>
        feed.append(slot, callId, batch({ first: 0, body: callId })),
      );
      await inBatches(slots, 16, async (each) => {
        const bodies = (await readAll(feed, "c", -1, each)).map(({ body }) => body);
        assert.deepStrictEqual(bodies, [slotText(each)]);
      });
      await inBatches(nastyIds, 16, async (callId) => {
        const bodies = (await readAll(feed, callId)).map(({ body }) => body);
        assert.deepStrictEqual(bodies, [callId]);
      });
      assert.deepStrictEqual([...(await feed.open(slot))].sort(), [...nastyIds].sort());
    }),
    check("delete removes the feeds of a slot, and no others", async (feed) => {
      const other = { ...slot, sessionId: "other" };
      for (const callId of ["c", "d"]) await feed.append(slot, callId, batch({ first: 0 }));
      await feed.append(other, "c", batch({ first: 0 }));
      await feed.delete(slot);
      await feed.delete(slot);
      assert.equal(await feed.read(slot, "c", -1), null);
      assert.equal(await feed.read(slot, "d", -1), null);
      assert.deepStrictEqual(await feed.open(slot), []);
      assert.deepStrictEqual(await feed.open(other), ["c"]);
      assert.equal(await feed.append(slot, "c", batch({ runId: "new", first: 0 })), 0);
    }),
    check("what is not an id is refused", async (feed) => {
      for (const [what, bad] of badSlots()) {
        const append = () => feed.append(bad, "c", batch({ first: 0 }));
        await assertRejects(append, "InvalidIdError", `append with ${what}`);
        await assertRejects(() => feed.read(bad, "c", -1), "InvalidIdError", `read with ${what}`);
        await assertRejects(() => feed.open(bad), "InvalidIdError", `open with ${what}`);
        await assertRejects(() => feed.delete(bad), "InvalidIdError", `delete with ${what}`);
      }
    }),
    ...(canReopen ? reopenCases(check) : []),
  ];
}

/** Two instances over the same data, as two processes would have. */
function reopenCases(check: FeedCase): ConformanceCase[] {
  return [
    check("what one instance appends the other reads", async (feed, reopen) => {
      const second = await reopen();
      for (let first = 0; first < 20; first++) {
        const one = first % 2 === 0 ? feed : second;
        assert.equal(await one.append(slot, "c", batch({ first, body: `${first}` })), first);
        const other = first % 2 === 0 ? second : feed;
        assert.deepStrictEqual(
          (await readAll(other, "c", first - 1)).map(({ body }) => body),
          [`${first}`],
        );
      }
      assert.deepStrictEqual(await second.open(slot), ["c"]);
    }),
    check(
      "a run that takes over in one instance is the only one in the other",
      async (feed, reopen) => {
        const second = await reopen();
        await feed.append(slot, "c", batch({ first: 0 }));
        assert.equal(await second.append(slot, "c", batch({ runId: "next" })), 1);
        assert.equal(await feed.append(slot, "c", batch({ first: 1 })), null);
        assert.equal(await second.append(slot, "c", batch({ runId: "next", first: 2 })), 2);
        await second.delete(slot);
        assert.equal(await feed.read(slot, "c", -1), null);
      },
    ),
    check("a watch is told of a batch of the other instance", async (feed, reopen) => {
      const second = await reopen();
      let woken = 0;
      const end = await feed.watch?.(slot, "c", () => woken++);
      await second.append(slot, "c", batch({ first: 0 }));
      if (end) await eventually(() => woken > 0, { what: "a wake-up" });
      end?.();
    }),
  ];
}
