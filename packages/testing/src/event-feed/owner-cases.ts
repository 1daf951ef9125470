import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { batch, type FeedCase, readAll } from "./feed-case.js";

/** Cases about the run that a feed belongs to. */
export function ownerCases(check: FeedCase): ConformanceCase[] {
  return [
    check("a batch of another run is refused", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0 }));
      assert.equal(await feed.append(slot, "c", batch({ runId: "other", first: 1 })), null);
      assert.equal(await feed.append(slot, "c", batch({ runId: "other", first: 0 })), null);
      assert.equal((await readAll(feed)).length, 1);
    }),
    check("of several runs that begin a feed at once one has it", async (feed) => {
      const runs = Array.from({ length: 8 }, (_, index) => `run-${index}`);
      const answers = await Promise.all(
        runs.map((runId) => feed.append(slot, "c", batch({ runId, first: 0 }))),
      );
      const winners = runs.filter((_, index) => answers[index] === 0);
      assert.equal(winners.length, 1);
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ runId }) => runId),
        winners,
      );
    }),
    check("a run that takes the feed over goes on behind its last event", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0, count: 5 }));
      assert.equal(await feed.append(slot, "c", batch({ runId: "next", count: 2 })), 5);
      assert.equal(await feed.append(slot, "c", batch({ runId: "next", first: 7 })), 7);
      assert.equal(await feed.append(slot, "c", batch({ first: 5 })), null);
      const found = await readAll(feed);
      assert.deepStrictEqual(
        found.map(({ runId, first }) => `${runId} ${first}`),
        ["r 0", "next 5", "next 7"],
      );
      assert.equal((await feed.read(slot, "c", 7))?.runId, "next");
    }),
    check("a take-over that is repeated changes nothing", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0 }));
      for (let time = 0; time < 2; time++)
        assert.equal(await feed.append(slot, "c", batch({ runId: "next", count: 2 })), 1);
      await feed.append(slot, "c", batch({ runId: "next", first: 3 }));
      assert.equal(await feed.append(slot, "c", batch({ runId: "next", count: 2 })), 1);
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ first }) => first),
        [0, 1, 3],
      );
    }),
    check("a take-over of a call without a feed begins one", async (feed) => {
      assert.equal(await feed.append(slot, "c", batch({ runId: "next" })), 0);
      assert.deepStrictEqual(await feed.open(slot), ["c"]);
    }),
    check("a feed that has ended goes on with a run that takes it over", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0, ends: true }));
      assert.deepStrictEqual(await feed.open(slot), []);
      await feed.append(slot, "c", batch({ runId: "next" }));
      assert.equal((await feed.read(slot, "c", -1))?.ended, false);
      assert.deepStrictEqual(await feed.open(slot), ["c"]);
    }),
  ];
}
