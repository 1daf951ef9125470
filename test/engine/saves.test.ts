import {
  type AgentEvent,
  assistantMessage,
  CallAbortedError,
  InProcessSessionGate,
  StateCorruptError,
  StoreUnavailableError,
  tool,
  userMessage,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, keptRuns, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, unavailable } from "./faulty-store.js";
import { stallingModel } from "./models.js";
import { callNoop, noop } from "./noop-tool.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("saves, fused: %s", (fused) => {
  describe("how often", () => {
    test.each([
      ["call", [true]],
      ["step", [false, false, false, false, true]],
    ] as const)("persistence %s", async (persistence, ends) => {
      // Where the gate did not keep the input, that is saved before the model is asked.
      const finals = fused ? ends : [false, ...ends];
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const agent = agentOn(store, {
        persistence,
        tools: [noop],
        // Reasoning and acting, twice, and a last reasoning whose save is the call's.
        model: scriptedModel([callNoop, callNoop, "done"]),
        onEvent: (event) => events.push(event),
      });
      await agent.call("go", ctx);
      const saved = events.flatMap((event) => (event.type === "state_saved" ? [event] : []));
      expect(saved.map(({ final }) => final)).toEqual(finals);
      expect(store.of("save")).toHaveLength(finals.length);
      expect(saved.map(({ revision }) => revision)).toEqual(
        store.of("save").map(({ answer }) => answer),
      );
      for (const { bytes } of saved) expect(bytes).toBeGreaterThan(0);
    });

    test("with step saves the store has, at any moment, what was done until then", async () => {
      const store = new FaultyStore({ fused });
      const seen: string[][] = [];
      const spy = tool({
        name: "spy",
        description: "Looks at what is stored.",
        input: z.object({}),
        execute: async () => {
          const stored = await loadWhole(store.inner, slotOf());
          if (stored) {
            seen.push(outline(stored.messages));
            seen.push(Object.values(stored.head["openCalls"] as object));
          }
          return "seen";
        },
      });
      const call = { toolCalls: [{ name: "spy", input: {} }] };
      const model = scriptedModel([call, call, "done"]);
      await agentOn(store, { persistence: "step", tools: [spy], model }).call("go", ctx);
      expect(seen).toEqual([
        ["user: go", "assistant: call spy"],
        ["started"],
        ["user: go", "assistant: call spy", "tool: success seen", "assistant: call spy"],
        ["started"],
      ]);
    });

    test("the tools a call resumed are saved before the model is asked again", async () => {
      const store = new FaultyStore({ fused });
      await agentOn(store).updateAgentState(null, "s", (state) => {
        const call = { type: "tool_call" as const, id: "1", name: "noop", input: {} };
        state.contextMutable().push(userMessage("go"), assistantMessage([call]));
        state.openCalls = { "1": "pending" };
        state.shutdownInterrupted = true;
      });
      const seen: string[][] = [];
      const model = scriptedModel(async () => {
        const stored = await loadWhole(store.inner, slotOf());
        if (stored) seen.push(outline(stored.messages));
        return "ok";
      });
      await agentOn(store, { model, persistence: "step", tools: [noop] }).call("next", ctx);
      expect(seen).toEqual([["user: go", "assistant: call noop", "tool: success done"]]);
    });
  });

  describe("what a call that does not end well leaves", () => {
    test("a model error: the input, with nothing doubled when the call is made again", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([{ error: new Error("no model") }, "now"]);
      const agent = agentOn(store, { model });
      const error = await agent.call("hello", ctx).catch((reason) => reason);
      expect(error.message).toBe("no model");
      expect(error).not.toHaveProperty("saveError");
      expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: hello"]);
      expect(outcomes(await logRecords(store, slotOf()))).toEqual(["error"]);
      await agent.call("again", ctx);
      expect(outline(model.requests[1]?.messages)).toEqual(["user: hello", "user: again"]);
    });

    test("a model error in the middle: the input and every finished step, paired", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([callNoop, { error: new Error("no model") }]);
      const agent = agentOn(store, { model, tools: [noop] });
      await expect(agent.call("hello", ctx)).rejects.toThrow("no model");
      const state = await agent.getAgentState(null, "s");
      expect(outline(state)).toEqual(["user: hello", "assistant: call noop", "tool: success done"]);
      expect(keptRuns(state).unfinishedRun).toBeNull();
    });

    test("an abort while the model talks: the text so far", async () => {
      const store = new FaultyStore({ fused });
      const reached = door();
      const agent = agentOn(store, { model: stallingModel("half", reached.open) });
      const controller = new AbortController();
      const running = agent.call("hello", { ...ctx, signal: controller.signal });
      await reached.opened;
      const why = new Error("gone");
      controller.abort(why);
      const error = await running.catch((reason) => reason);
      expect(CallAbortedError.is(error)).toBe(true);
      expect(error.cause).toBe(why);
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: hello",
        "assistant: half",
      ]);
      expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted"]);
    });

    test("an abort while a tool runs: what is done, with the open call closed", async () => {
      const store = new FaultyStore({ fused });
      const reached = door();
      let aborted: AbortSignal | undefined;
      const hang = tool({
        name: "hang",
        description: "Never ends.",
        input: z.object({}),
        execute: (_, { signal }) => {
          aborted = signal;
          reached.open();
          return new Promise(() => undefined);
        },
      });
      const script = [callNoop, { toolCalls: [{ name: "hang", input: {} }] }];
      const agent = agentOn(store, { model: scriptedModel(script), tools: [noop, hang] });
      const controller = new AbortController();
      const running = agent.call("hello", { ...ctx, signal: controller.signal });
      await reached.opened;
      controller.abort();
      await expect(running).rejects.toSatisfy(CallAbortedError.is);
      expect(aborted?.aborted).toBe(true);
      const state = await agent.getAgentState(null, "s");
      expectPaired(state?.context ?? []);
      expect(outline(state)).toEqual([
        "user: hello",
        "assistant: call noop",
        "tool: success done",
        "assistant: call hang",
        expect.stringMatching(/^tool: interrupted /),
      ]);
      expect(state?.openCalls).toEqual({});
    });

    test("a reader that leaves the stream: everything, the call runs to its end", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, { model: scriptedModel([callNoop, "done"]), tools: [noop] });
      const run = agent.stream("hello", ctx);
      for await (const _ of run) break;
      expect((await run.result).text).toBe("done");
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(4);
    });
  });

  describe("a session that cannot be loaded", () => {
    test("fails the call, and nothing is written", async () => {
      const store = new FaultyStore({ fused });
      const gate = fused ? new InProcessSessionGate() : undefined;
      const model = scriptedModel([]);
      const agent = agentOn(store, { model, ...(gate && { gate }) });
      store.next("load", unavailable);
      await expect(agent.call("hello", ctx)).rejects.toSatisfy(StoreUnavailableError.is);
      expect(model.requests).toHaveLength(0);
      expect([...store.of("save"), ...store.of("append")]).toEqual([]);
      expect(await logRecords(store, slotOf())).toEqual([]);
    });

    test.each([
      ["no state document", { format: "something else" }],
      ["a damaged section", { openCalls: { x: "sideways" } }],
      ["another session's", { sessionId: "t" }],
      ["another user's", { userId: "mallory" }],
    ])("because it is damaged, %s, is never overwritten", async (_, damage) => {
      const store = new FaultyStore({ fused });
      const healthy = agentOn(store);
      await healthy.call("precious", ctx);
      const stored = await loadWhole(store.inner, slotOf());
      if (!stored) throw new Error("nothing stored");
      const { head, revision } = stored;
      const write = { keep: stored.messages.length, replace: [], append: [] };
      await store.inner.save(slotOf(), {
        ...write,
        op: "damage",
        expected: revision,
        head: { ...head, ...damage },
      });
      const before = await loadWhole(store.inner, slotOf());
      for (const agent of [healthy, agentOn(store)]) {
        await expect(agent.call("hello", ctx)).rejects.toSatisfy(StateCorruptError.is);
        await expect(agent.getAgentState(null, "s")).rejects.toSatisfy(StateCorruptError.is);
        const update = agent.updateAgentState(null, "s", () => undefined);
        await expect(update).rejects.toSatisfy(StateCorruptError.is);
      }
      expect(await loadWhole(store.inner, slotOf())).toEqual(before);
      expect(await healthy.deleteSession(null, "s")).toBe(true);
    });
  });
});
