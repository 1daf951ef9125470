import { type ReActAgentOptions, StateConflictError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outline } from "./conversation.js";
import { FaultyStore, lostAnswer } from "./faulty-store.js";
import { agentOn } from "./overlapping-calls.js";

const ctx = { sessionId: "s" };

describe.each([true, false])(
  "whatever the order in which stores and models answer, fused log: %s",
  (fused) => {
    const runs = process.env["HOLDFAST_LONG"] === "1" ? 500 : 10;

    /** Three agents make six calls; every command and every model call waits for its place in a random order. */
    async function interleave(
      s: fc.Scheduler,
      options: Partial<ReActAgentOptions>,
      losesAnswer: readonly boolean[],
    ) {
      const store = new FaultyStore({ fused });
      const lost = [...losesAnswer];
      store.every("save", async (run, command) => {
        await s.schedule(Promise.resolve(), "save");
        return lost.shift() ? lostAnswer(run, command) : run();
      });
      store.every("load", async (run) => {
        await s.schedule(Promise.resolve(), "load");
        return run();
      });
      const agents = [0, 1, 2].map(() =>
        agentOn(store, {
          ...options,
          model: scriptedModel(async (request) => {
            await s.schedule(Promise.resolve(), "model");
            return `re ${outline(request.messages).at(-1)?.slice("user: ".length)}`;
          }),
        }),
      );
      const names = Array.from({ length: 6 }, (_, n) => `turn ${n}`);
      const settled = await s.waitFor(
        Promise.allSettled(names.map((name, n) => agents[n % 3]?.call(name, ctx))),
      );
      const acknowledged = names.filter((_, n) => settled[n]?.status === "fulfilled");
      for (const result of settled)
        if (result.status === "rejected") expect(StateConflictError.is(result.reason)).toBe(true);
      store.every("load", undefined);
      const state = await agentOn(store).getAgentState(null, "s");
      return { acknowledged, names, said: outline(state) };
    }

    function expectEachTurnOnce(said: readonly string[], names: readonly string[]): void {
      expect(said).toHaveLength(names.length * 2);
      for (const name of names) {
        const at = said.indexOf(`user: ${name}`);
        expect(at, name).toBeGreaterThanOrEqual(0);
        expect(said[at + 1]).toBe(`assistant: re ${name}`);
      }
    }

    test("fail: every acknowledged turn is there exactly once, and of the others at most the input", async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (s) => {
          const { acknowledged, names, said } = await interleave(s, {}, []);
          expect(acknowledged.length).toBeGreaterThan(0);
          const failed = names.filter((name) => !acknowledged.includes(name));
          const left = failed.map((name) => `user: ${name}`);
          const kept = said.filter((line) => left.includes(line));
          expect(new Set(kept).size).toBe(kept.length);
          const turns = said.filter((line) => !left.includes(line));
          expectEachTurnOnce(turns, acknowledged);
        }),
        { numRuns: runs },
      );
    });

    test("merge-append: every turn is acknowledged and there exactly once, also when answers are lost", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(fc.boolean(), { maxLength: 2 }),
          async (s, lost) => {
            const policy = { conflictPolicy: "merge-append" as const };
            const { acknowledged, names, said } = await interleave(s, policy, lost);
            expect(acknowledged).toEqual(names);
            expectEachTurnOnce(said, names);
          },
        ),
        { numRuns: runs },
      );
    });
  },
);
