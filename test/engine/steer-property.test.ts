import { setTimeout as delay } from "node:timers/promises";
import { InMemoryAgentStateStore, textOf, tool } from "@holdfast/core";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { keptInLog, outline, slotOf } from "./conversation.js";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const ctx = { sessionId: "s" };

/** Something that is done to the session while others are under way. */
type Deed =
  | {
      readonly kind: "call";
      readonly steps: number;
      readonly onBusy: "enqueue" | "interrupt" | "rollback";
    }
  | { readonly kind: "steer" }
  | { readonly kind: "interrupt" }
  | { readonly kind: "pause"; readonly turns: number };

const deeds: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Deed>({ kind: "steer" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      steps: fc.nat(3),
      onBusy: fc.constantFrom(
        "enqueue" as const,
        "enqueue" as const,
        "interrupt" as const,
        "rollback" as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Deed>({ kind: "interrupt" }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pause" as const), turns: fc.nat(12) }) },
);

/** A call that is stopped twice, and steered in between. */
const betweenInterrupts: Deed[] = [
  { kind: "call", steps: 1, onBusy: "enqueue" },
  { kind: "pause", turns: 2 },
  { kind: "interrupt" },
  { kind: "steer" },
  { kind: "interrupt" },
  { kind: "call", steps: 0, onBusy: "enqueue" },
];

/** A model that takes a few steps with a tool, as the last words with a number tell it, and then answers. */
function steppingModel() {
  return pairedModel(async ({ messages }) => {
    await delay(0);
    const asked = messages.findLastIndex((message) => /^call \d/.test(textOf(message)));
    const steps = Number(/^call (\d)/.exec(textOf(messages[asked] as never))?.[1] ?? 0);
    const done = messages.slice(asked).filter(({ role }) => role === "tool").length;
    return done < steps ? { toolCalls: [{ name: "step", input: {} }] } : "answer";
  });
}

const step = tool({
  name: "step",
  description: "Takes a step.",
  input: z.object({}),
  execute: async () => {
    await delay(0);
    return "stepped";
  },
});

test.each([
  [true, "call"],
  [true, "step"],
  [false, "call"],
  [false, "step"],
] as const)(
  "whatever is called, interrupted and rolled back meanwhile, every accepted message is in the session once and in order; fused: %s, persistence %s",
  async (fused, persistence) => {
    await fc.assert(
      fc.asyncProperty(fc.array(deeds, { minLength: 2, maxLength: 14 }), async (plan) => {
        const store = new InMemoryAgentStateStore({ fused });
        // Two nodes as far as the engine can tell: neither shares a cache with the other.
        const nodes = [0, 1].map(() =>
          agentOn(store, { model: steppingModel(), tools: [step], persistence }),
        );
        const calls: Promise<unknown>[] = [];
        const accepted: string[] = [];
        for (const [index, deed] of plan.entries()) {
          const node = nodes[index % 2] as (typeof nodes)[number];
          if (deed.kind === "pause") for (let n = 0; n < deed.turns; n++) await delay(0);
          else if (deed.kind === "call") {
            const { steps, onBusy } = deed;
            calls.push(node.call(`call ${steps} of ${index}`, { ...ctx, onBusy }));
          } else {
            const message = `${deed.kind} ${index}`;
            const answer =
              deed.kind === "steer"
                ? await node.steer(ctx, message)
                : await node.interrupt(null, "s", message);
            if (answer !== false) accepted.push(message);
          }
        }
        await Promise.all(calls);
        await nodes[0]?.call("call 0 at last", ctx);
        const state = await nodes[1]?.getAgentState(null, "s");
        if (!state) throw new Error("there is no state");
        expect(stateProblem(state)).toBeNull();
        const isTold = (line: string) => /^user: (steer|interrupt) /.test(line);
        const told = accepted.map((message) => `user: ${message}`);
        expect(outline(state).filter(isTold)).toEqual(told);
        const inLog = await keptInLog(store, slotOf());
        expect(inLog.filter(isTold).toSorted()).toEqual(told.toSorted());
        expect(await store.inbox.read(slotOf())).toEqual([]);
      }),
      { numRuns: scaled(20, 400), examples: [[betweenInterrupts]] },
    );
  },
);
