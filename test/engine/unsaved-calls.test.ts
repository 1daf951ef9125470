import {
  type Compactor,
  definePlugin,
  InProcessSessionGate,
  ReActAgent,
  type ReActAgentOptions,
  StateConflictError,
  tool,
} from "@holdfast/core";
import { CallOutcomes, isDiscarded } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, lostAnswer, unavailable } from "./faulty-store.js";
import { overlap, slowAgent, agentOn as strangerOn } from "./overlapping-calls.js";

const ctx = { sessionId: "s" };
const none = z.object({});

describe.each([true, false])(
  "what the log says of a call that was not saved, fused: %s",
  (fused) => {
    /** Calls `work`, then answers; `during` happens while the tool runs. */
    function workingAgent(
      store: FaultyStore,
      during: () => unknown,
      options: Partial<ReActAgentOptions> = {},
    ): ReActAgent {
      const work = tool({
        name: "work",
        description: "Works.",
        input: none,
        execute: async () => {
          await during();
          return "worked";
        },
      });
      return new ReActAgent({
        name: "a",
        model: scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }, "done"]),
        stateStore: store,
        gate: new InProcessSessionGate(),
        tools: [work],
        ...options,
      });
    }

    async function discarded(store: FaultyStore): Promise<string[]> {
      const found = new CallOutcomes(store.companions().log, { stateStore: store });
      const gone = [];
      for (const record of await logRecords(store, slotOf()))
        if (isDiscarded(await found.of(slotOf(), record))) gone.push(record);
      return outline(logged(gone));
    }

    test("a conflict after saved steps does not hide what the session keeps", async () => {
      const store = new FaultyStore({ fused });
      const agent = workingAgent(store, () => strangerOn(store).call("other", ctx), {
        persistence: "step",
      });
      const error = await agent.call("go", { ...ctx, callId: "mine" }).catch((reason) => reason);
      expect(StateConflictError.is(error)).toBe(true);
      const state = await agent.getAgentState(null, "s");
      expect(error.savedMessageIds).toEqual(state?.context.slice(0, 2).map(({ id }) => id));
      expect(error.message).toContain("2 messages stay in the session");
      expect(error.message).not.toMatch(/nothing was written|load it again/i);
      expect(outline(state).slice(0, 2)).toEqual(["user: go", "assistant: call work"]);
      // Only what the conflict kept out of the session.
      expect(await discarded(store)).toEqual(["tool: success worked"]);
      const records = await logRecords(store, slotOf());
      const mine = records.filter(({ callId }) => callId === "mine");
      expect(outcomes(mine).at(-1)).toBe("error");
    });

    test("nor does a conflict with a step of its own whose save got no answer", async () => {
      const store = new FaultyStore({ fused });
      store.next("save", undefined, lostAnswer);
      const agent = workingAgent(store, () => undefined, {
        persistence: "step",
        saveDeadlineMs: 1,
      });
      await expect(agent.call("go", ctx)).rejects.toThrow();
      expect(outline(await agent.getAgentState(null, "s"))[0]).toBe("user: go");
      expect(await discarded(store)).toEqual([expect.stringMatching(/^tool: interrupted /)]);
    });

    test("a conflict is said although the log is away for a moment", async () => {
      const store = new FaultyStore({ fused });
      const slow = slowAgent(store);
      const running = overlap(slow, async () => {
        await strangerOn(store).call("other", ctx);
        store.next("append", ...(fused ? [unavailable] : [undefined, unavailable]));
      });
      await expect(running).rejects.toSatisfy(StateConflictError.is);
      // The other took the input in.
      expect(await discarded(store)).toEqual(["assistant: slow"]);
    });

    test("a conflict hides what was written ahead, also behind the end of the call that won", async () => {
      const store = new FaultyStore({ fused });
      const agent = workingAgent(store, () => undefined, {
        middleware: [
          {
            name: "cut",
            onToolResult: (result) => ({ ...result, output: [{ type: "text", text: "cut" }] }),
            onReasoning: async (step, next) => {
              if (step.iteration === 1) await strangerOn(store).call("other", ctx);
              return next();
            },
          },
        ],
      });
      await expect(agent.call("go", ctx)).rejects.toSatisfy(StateConflictError.is);
      const records = await logRecords(store, slotOf());
      expect(outline(logged(records))).toEqual([
        "user: go",
        "assistant: call work",
        "tool: success worked",
        "user: other",
        "assistant: ok",
        "assistant: done",
      ]);
      expect(await discarded(store)).toEqual([
        "assistant: call work",
        "tool: success worked",
        "assistant: done",
      ]);
    });

    test("a compaction that goes on after an interrupt writes nothing any more", async () => {
      const store = new FaultyStore({ fused });
      const [reached, release, gone] = [door(), door(), door()];
      const deaf: Compactor = {
        proactive: true,
        async compact({ state, dropping }) {
          const { length } = state.context;
          reached.open();
          await release.opened;
          await dropping(state.context);
          gone.open();
          return { compacted: false, messagesBefore: length, messagesAfter: length };
        },
      };
      const plugin = definePlugin({
        name: "deaf",
        contract: 1,
        setup: (host) => host.provide("compactor", deaf),
      });
      const agent = strangerOn(store, { plugins: [plugin] });
      const running = agent.call("go", ctx);
      await reached.opened;
      // The last save is under way when the compaction goes on.
      store.next("save", async (run) => {
        release.open();
        await gone.opened;
        return run();
      });
      await agent.interrupt(null, "s");
      expect((await running).reason).toBe("interrupted");
      expect(store.of("append")).toHaveLength(fused ? 0 : 1);
      const records = await logRecords(store, slotOf());
      expect(outline(logged(records))).toEqual(["user: go"]);
      expect(outcomes(records)).toEqual(["interrupted"]);
    });

    test("an answer from outside that nobody changed is written with the save, not ahead of it", async () => {
      const store = new FaultyStore({ fused });
      const ask = tool({ name: "ask", description: "Asks.", input: none });
      const agent = new ReActAgent({
        name: "a",
        model: scriptedModel([{ toolCalls: [{ name: "ask", input: {} }] }, "done"]),
        stateStore: store,
        tools: [ask],
      });
      const reply = await agent.call("go", ctx);
      if (reply.reason !== "tool_suspended") throw new Error(reply.reason);
      const before = store.of("append").length;
      const toolCallId = reply.pending[0]?.toolCallId ?? "";
      await agent.call({ results: [{ toolCallId, output: "an answer" }] }, ctx);
      expect(store.of("append").length - before).toBe(fused ? 0 : 2);
    });
  },
);
