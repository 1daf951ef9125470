import assert from "node:assert/strict";
import { repairToolPairs } from "@holdfast/core";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../runs.js";
import { scenarios, stage } from "../scenarios.js";

test("aborted at any point, the state is the old one or a whole new one, and nothing is edited from then on", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), fc.integer({ min: 0, max: 14 }), async (scenario, point) => {
      const { bench, state } = stage(scenario);
      const head = JSON.stringify(state.head());
      const broken = repairToolPairs(state.context).repairs.length;
      const before = state.toJson();
      const controller = new AbortController();
      const reason = new Error("enough");
      let steps = 0;
      let atAbort: string | null = null;
      bench.onStep = () => {
        if (steps++ !== point) return;
        atAbort = state.toJson();
        controller.abort(reason);
      };
      const outcome = await bench
        .compact(state, { ...scenario.asked, signal: controller.signal })
        .catch((error: unknown) => error);
      const after = state.toJson();
      if (outcome instanceof Error) {
        assert.equal(outcome, reason);
        assert.equal(after, before);
      }
      if (atAbort !== null) assert.equal(after, atAbort);
      assert.equal(JSON.stringify(state.head()), head);
      assert.ok(repairToolPairs(state.context).repairs.length <= broken);
    }),
    runs(),
  );
});
