import assert from "node:assert/strict";
import { assistantMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../runs.js";
import { scenarios, stage } from "../scenarios.js";
import { type SummariserKind, willing } from "../summarisers.js";

/** So many that what random conversations have to show is shown for certain. */
const enough = runs(300);

const summarisers: fc.Arbitrary<SummariserKind> = fc.constantFrom(...willing, "tools");

test("everything that leaves was read by the summariser first, whole, and announced and offloaded if so configured", async () => {
  let gone = 0;
  await fc.assert(
    fc.asyncProperty(scenarios({ summarisers }), async (scenario) => {
      const { bench, state, model } = stage(scenario);
      const before = state.context.filter(({ id }) => scenario.conversation.facts.has(id));
      await bench.compact(state, scenario.asked);
      const left = before.filter(({ id }) => !state.context.some((message) => message.id === id));
      const { asked } = model;
      gone += left.length;
      for (const message of left) {
        for (const fact of scenario.conversation.facts.get(message.id) ?? [])
          assert.ok(asked.includes(fact), `${fact} was asked about`);
        if (scenario.options.flushBeforeCompact) assert.ok(bench.announced.includes(message));
        if (scenario.options.offloadBeforeCompact) assert.ok(bench.offloaded.includes(message));
      }
      if (left.length > 0)
        for (const fact of scenario.conversation.summaryFacts) assert.ok(asked.includes(fact));
    }),
    enough,
  );
  assert.ok(gone > enough.numRuns, "messages left in most of them");
});

test("over a chain of compactions each summary goes into the request for the next, text such as $& intact", async () => {
  const kinds = fc.constantFrom<SummariserKind>("good", "narrow");
  const links = fc.integer({ min: 5, max: 6 });
  let carried = 0;
  await fc.assert(
    fc.asyncProperty(
      scenarios({ summarisers: kinds, maxTurns: 5 }),
      links,
      async (scenario, count) => {
        const { bench, state, model } = stage({
          ...scenario,
          options: { ...scenario.options, summarySchema: undefined, summaryTemplate: undefined },
        });
        let last: string | null = null;
        for (let link = 0; link < count; link++) {
          const requests = model.requests.length;
          const { compacted } = await bench.compact(state, {
            cause: "manual",
            force: true,
            overrides: { keepMessages: 1 },
          });
          const end = bench.of("compaction_end").at(-1);
          if (compacted && end?.actions.includes("summary")) {
            const asked = JSON.stringify(model.requests.slice(requests));
            if (last !== null) {
              assert.ok(asked.includes(JSON.stringify(last).slice(1, -1)));
              carried++;
            }
            last = model.replies.at(-1) ?? null;
            assert.ok(last !== null && state.summary?.includes(last));
          }
          for (let turn = 0; turn < 3; turn++)
            state
              .contextMutable()
              .push(
                userMessage(`go on ${"and on ".repeat(30)}`),
                assistantMessage(`done ${"and done ".repeat(30)}`),
              );
        }
      },
    ),
    enough,
  );
  assert.ok(carried > enough.numRuns / 2, "most chains had links");
});

test("in pieces, every request but the first carries the summary so far", async () => {
  await fc.assert(
    fc.asyncProperty(
      scenarios({ summarisers: fc.constant<SummariserKind>("narrow"), minTurns: 4 }),
      async (scenario) => {
        const { bench, state, model } = stage({
          ...scenario,
          options: { summaryPrompt: "Summarise.", triggerTokens: 100, keepTokens: 1 },
        });
        await bench.compact(state);
        const texts = model.requests.map(({ messages }) => JSON.stringify(messages));
        for (const [index, text] of texts.entries()) {
          const part = /part=\\"(\d+) of \d+\\"/.exec(text)?.[1];
          assert.equal(
            text.includes("<summary_so_far>\\n[sum-"),
            part !== undefined && part !== "1",
            `request ${index}`,
          );
        }
      },
    ),
    runs(),
  );
});
