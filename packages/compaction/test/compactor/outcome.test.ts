import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../runs.js";
import { scenarios, stage } from "../scenarios.js";
import { SECRET, useless, waits } from "../summarisers.js";

test("a compaction makes the request smaller, or says why not and leaves every message as it was", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      const before = [...state.context];
      const tokensBefore = bench.estimate(state);
      const result = await bench.compact(state, scenario.asked);
      const failed = bench.of("compaction_failed");
      if (result.compacted) {
        assert.equal(failed.length, 0);
        assert.equal(result.failure, undefined);
        assert.ok(bench.estimate(state) < tokensBefore, "smaller");
        return;
      }
      assert.deepEqual(
        failed.map(({ error }) => error),
        result.failure === undefined ? [] : [result.failure],
      );
      assert.equal(state.context.length, before.length);
      for (const [index, message] of before.entries()) assert.equal(state.context[index], message);
    }),
    runs(),
  );
});

test("every start has one end, and the numbers of events, result and state agree", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      const messages = state.context.length;
      const { total, scale } = bench.meter.contextTokens(state, bench.prompt);
      const result = await bench.compact(state, scenario.asked);
      const starts = bench.of("compaction_start");
      const ends = bench.of("compaction_end");
      const types = bench.events
        .map(({ type }) => type)
        .filter((type) => type !== "compaction_warning");
      if (starts.length === 0) assert.deepEqual(types, []);
      else
        assert.match(`${types[0]} ${types.at(-1)}`, /^compaction_start compaction_(end|failed)$/);
      assert.ok(starts.length <= 1);
      assert.equal(ends.length + bench.of("compaction_failed").length, starts.length);
      assert.equal(bench.marks.length, ends.length);
      const calls = bench.of("model_call_start");
      const returned = bench.of("model_call_end");
      assert.equal(returned.length, calls.length);
      assert.equal(result.messagesBefore, messages);
      assert.equal(result.messagesAfter, state.context.length);
      assert.equal(result.tokensBefore, Math.round(total));
      for (const start of starts)
        assert.deepEqual(start, {
          type: "compaction_start",
          cause: scenario.asked.cause,
          messages,
          tokens: Math.round(total),
        });
      for (const end of ends) {
        const { compacted: _, ...sizes } = result;
        const { durationMs, usage, actions, type, cause, ...told } = end;
        assert.deepEqual(told, sizes);
        assert.deepEqual(bench.marks[0]?.details, { cause, actions, ...sizes });
        if (actions.includes("summary")) {
          // In the provider's tokens, as far as it counted: no less than half, no more than all of them scaled.
          const least = Math.min(1, scale) * bench.estimate(state);
          const most = Math.max(1, scale) * bench.estimate(state);
          // Rounded.
          assert.ok(end.tokensAfter >= least - 1 && end.tokensAfter <= most + 1);
          const output = returned.reduce((sum, call) => sum + call.usage.outputTokens, 0);
          assert.equal(usage?.outputTokens, output);
        }
      }
    }),
    runs(),
  );
});

test("a summariser that is of no use leaves the state as it was and is quoted nowhere", async () => {
  const summarisers = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...useless.filter((kind) => !waits(kind))) },
    { weight: 1, arbitrary: fc.constantFrom(...useless.filter(waits)) },
  );
  await fc.assert(
    fc.asyncProperty(scenarios({ summarisers }), async (scenario) => {
      const { bench, state } = stage(scenario);
      const before = state.toJson();
      const result = await bench.compact(state, scenario.asked);
      const clipped = bench
        .of("compaction_end")
        .every(({ actions }) => !actions.includes("summary"));
      assert.ok(clipped, "no summary was taken from it");
      if (!result.compacted) assert.equal(state.toJson(), before);
      assert.ok(!JSON.stringify([bench.events, bench.marks, result]).includes(SECRET));
    }),
    runs(),
  );
});

test("nothing but the context changes: plan, tasks, permissions and plugins stay as they were", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      const head = JSON.stringify(state.head());
      const messages = [...state.context];
      await bench.compact(state, scenario.asked);
      assert.equal(JSON.stringify(state.head()), head);
      const ids = messages.map(({ id }) => id);
      const summaries = state.context.filter(({ id }) => !ids.includes(id));
      assert.ok(summaries.length <= 1, "nothing is new but the summary");
      for (const { content } of summaries) assert.equal(content[0]?.type, "hint");
    }),
    runs(),
  );
});
