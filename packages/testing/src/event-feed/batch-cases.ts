import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import { batch, type FeedCase, noise, readAll } from "./feed-case.js";

/** Cases about appending and reading batches of one run. */
export function batchCases(check: FeedCase): ConformanceCase[] {
  return [
    check("it names its contract", async (feed) => {
      assert.equal(feed.contract, 1);
      assert.ok(feed.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(feed.reach));
    }),
    check("a call without a feed reads as null, and none is open", async (feed) => {
      assert.equal(await feed.read(slot, "c", -1), null);
      assert.deepStrictEqual(await feed.open(slot), []);
    }),
    check("batches are read as they were appended", async (feed) => {
      const bodies = [
        '["a"]',
        "ünï \u{1f600} 漢字",
        "'\"\\ \n\r\t %s {} $1",
        "",
        "x".repeat(70_000),
      ];
      for (const [index, body] of bodies.entries())
        assert.equal(
          await feed.append(slot, "c", batch({ first: 2 * index, count: 2, body })),
          2 * index,
        );
      assert.deepStrictEqual(
        await readAll(feed),
        bodies.map((body, index) => ({ runId: "r", first: 2 * index, count: 2, body })),
      );
    }),
    check("a page tells the feed's run, its last event and whether it has ended", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0, count: 3 }));
      const page = await feed.read(slot, "c", 2);
      assert.deepStrictEqual(page, { batches: [], runId: "r", last: 2, ended: false });
      await feed.append(slot, "c", batch({ first: 3, ends: true }));
      const end = await feed.read(slot, "c", 2 ** 50);
      assert.deepStrictEqual(end, { batches: [], runId: "r", last: 3, ended: true });
    }),
    check("reading behind a position leaves out what is known, batch by batch", async (feed) => {
      for (const first of [0, 3, 6]) await feed.append(slot, "c", batch({ first, count: 3 }));
      const firsts = async (after: number) =>
        (await feed.read(slot, "c", after))?.batches.map(({ first }) => first);
      assert.deepStrictEqual(await firsts(-1), [0, 3, 6]);
      assert.deepStrictEqual(await firsts(1), [0, 3, 6]);
      assert.deepStrictEqual(await firsts(2), [3, 6]);
      assert.deepStrictEqual(await firsts(7), [6]);
      assert.deepStrictEqual(await firsts(8), []);
    }),
    check("a long feed is read in pages, without a gap", async (feed) => {
      const body = noise(20_000);
      for (let first = 0; first < 60; first++) await feed.append(slot, "c", batch({ first, body }));
      const page = await feed.read(slot, "c", -1);
      assert.ok((page?.batches.length ?? 0) < 60, "a page is bounded");
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ first }) => first),
        Array.from({ length: 60 }, (_, first) => first),
      );
    }),
    check("a batch that is repeated changes nothing", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0, count: 2, body: "one" }));
      await feed.append(slot, "c", batch({ first: 2, body: "two" }));
      assert.equal(await feed.append(slot, "c", batch({ first: 0, count: 2, body: "one" })), 0);
      assert.equal(await feed.append(slot, "c", batch({ first: 2, body: "two" })), 2);
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ body }) => body),
        ["one", "two"],
      );
    }),
    check("numbers may be missing", async (feed) => {
      await feed.append(slot, "c", batch({ first: 0 }));
      assert.equal(await feed.append(slot, "c", batch({ first: 9 })), 9);
      assert.deepStrictEqual(
        (await readAll(feed)).map(({ first }) => first),
        [0, 9],
      );
    }),
    check("a watch is told of a batch, and of none after it ended", async (feed) => {
      let woken = 0;
      const end = await feed.watch?.(slot, "c", () => woken++);
      if (!end) return;
      await feed.append(slot, "c", batch({ first: 0 }));
      await eventually(() => woken > 0, { what: "a wake-up" });
      end();
      end();
      const other = await feed.watch?.(slot, "c", () => undefined);
      const before = woken;
      await feed.append(slot, "c", batch({ first: 1 }));
      await readAll(feed);
      assert.equal(woken, before);
      other?.();
    }),
  ];
}
