import assert from "node:assert/strict";
import type { FeedLimits } from "@holdfast/core/store-kit";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import { batch, type FeedCase, noise, readAll } from "./feed-case.js";

/** Cases about the bounds of feeds: size and time. */
export function boundCases(within: (limits: FeedLimits) => FeedCase): ConformanceCase[] {
  return [
    within({ maxChars: 10_000 })("a feed that is full drops its oldest batches", async (feed) => {
      const body = noise(1_000);
      for (let first = 0; first < 100; first++)
        await feed.append(slot, "c", batch({ first, body }));
      const firsts = (await readAll(feed)).map(({ first }) => first);
      assert.ok(firsts.length >= 1 && firsts.length <= 11, `${firsts.length} batches are kept`);
      assert.deepStrictEqual(
        firsts,
        firsts.map((_, index) => 100 - firsts.length + index),
      );
      assert.equal((await feed.read(slot, "c", -1))?.last, 99);
    }),
    within({ maxChars: 10_000 })("a batch beyond the bound is kept, alone", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0 }));
      await feed.append(slot, "c", batch({ first: 1, body: noise(50_000) }));
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ first }) => first),
        [1],
      );
    }),
    within({ keepMs: 50 })("a feed that has ended is gone some time after", async (feed) => {
      await feed.append(slot, "open", batch({ first: 0 }));
      await feed.append(slot, "ended", batch({ first: 0 }));
      await feed.append(slot, "ended", batch({ first: 1, ends: true }));
      await eventually(async () => (await feed.read(slot, "ended", -1)) === null);
      assert.equal((await readAll(feed, "open")).length, 1);
      assert.deepStrictEqual(await feed.open(slot), ["open"]);
      assert.equal(await feed.append(slot, "ended", batch({ runId: "new", first: 0 })), 0);
      assert.equal((await readAll(feed, "ended")).length, 1);
    }),
    within({ openMs: 50 })(
      "a feed that never ends is gone some time after its last batch",
      async (feed) => {
        await feed.append(slot, "c", batch({ first: 0 }));
        await eventually(async () => (await feed.read(slot, "c", -1)) === null);
        assert.deepStrictEqual(await feed.open(slot), []);
        await feed.append(slot, "d", batch({ first: 0, ends: true }));
        assert.equal((await readAll(feed, "d")).length, 1);
      },
    ),
  ];
}
