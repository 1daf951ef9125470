import assert from "node:assert/strict";
import { assistantMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../runs.js";
import { scenarios, stage } from "../scenarios.js";
import { type SummariserKind, useless, waits } from "../summarisers.js";

const step = { cause: "step", force: false } as const;

test("steps without anything new soon stop compacting, and every compaction made progress", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      for (let count = 0; count < 8; count++) {
        const messages = state.context.length;
        const tokens = bench.estimate(state);
        const { compacted } = await bench.compact(state, step);
        const isLess = state.context.length < messages || bench.estimate(state) < tokens;
        assert.equal(isLess, compacted);
      }
      assert.ok(bench.of("compaction_end").length <= 3, "compactions");
      assert.ok(bench.of("compaction_failed").length <= 1, "failures");
      const events = bench.events.length;
      await bench.compact(state, step);
      assert.equal(bench.events.length, events, "it has come to rest");
    }),
    runs(),
  );
});

test("a summariser that keeps failing is asked less and less often", async () => {
  const summarisers = fc.constantFrom<SummariserKind>(...useless.filter((kind) => !waits(kind)));
  await fc.assert(
    fc.asyncProperty(scenarios({ summarisers, maxTurns: 5 }), async (scenario) => {
      const { bench, state } = stage(scenario);
      for (let count = 0; count < 24; count++) {
        await bench.compact(state, step);
        state.contextMutable().push(userMessage("next"), assistantMessage("yes"));
      }
      // 48 messages: at the first, after 4 and 16 more, and once again where a failure was of another kind.
      assert.ok(bench.of("compaction_failed").length <= 4);
    }),
    runs(),
  );
});
