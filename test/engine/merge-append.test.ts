import {
  type Middleware,
  StateConflictError,
  suspend,
  type Tool,
  tool,
  UnknownOutcomeError,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { expectPaired, keptInLog, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";
import { agentOn, edits, overlap, slowAgent } from "./overlapping-calls.js";

const ctx = { sessionId: "s" };

/** Keeps records of calls in the head alone, as a store may. */
class HeadRecords extends FaultyStore {
  override readonly keepsCallRecords = false as unknown as true;
}

describe.each([true, false])("merge-append, fused log: %s", (fused) => {
  const merging = { conflictPolicy: "merge-append" as const };

  test("both turns are there, each once and whole, and head sections of both", async () => {
    const store = new FaultyStore({ fused });
    await agentOn(store).call("base", ctx);
    const slow = slowAgent(store, { ...merging, middleware: [edits("plan")] });
    await overlap(
      slow,
      () =>
        agentOn(store, { middleware: [edits("tasks")] }).call("second", {
          ...ctx,
          callId: "two",
        }),
      "one",
    );
    const state = await agentOn(store).getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: base",
      "assistant: ok",
      "user: second",
      "assistant: ok",
      "user: first",
      "assistant: slow",
    ]);
    expect(state?.planModeContext.active).toBe(true);
    expect(state?.tasksContext.tasks).toEqual([{ content: "by a", status: "pending" }]);
    // The log has them in the order in which they were said.
    expect(await keptInLog(store, slotOf())).toEqual([
      "user: base",
      "assistant: ok",
      "user: first",
      "user: second",
      "assistant: ok",
      "assistant: slow",
    ]);
    // Both calls are remembered as finished.
    const model = scriptedModel([]);
    const repeating = agentOn(store, { model });
    const repeated = [
      await repeating.call("first", { ...ctx, callId: "one" }),
      await repeating.call("second", { ...ctx, callId: "two" }),
    ];
    expect(repeated.map(({ text }) => text)).toEqual(["slow", "ok"]);
    expect(model.requests).toEqual([]);
    // Also by the agent that merged, which has the state at hand.
    const again = await slow.agent.call("second", { ...ctx, callId: "two" });
    expect(again.text).toBe("ok");
    // The merged state is what the next call of the same agent sees.
    await slow.agent.call("next", ctx);
    expect(outline(await agentOn(store).getAgentState(null, "s"))).toHaveLength(8);
  });

  test("a failed call that the other has repeated stays answered", async () => {
    const store = new HeadRecords({ fused });
    const again = { ...ctx, callId: "again" };
    const failing = agentOn(store, { model: scriptedModel([{ error: new Error("no model") }]) });
    await expect(failing.call("hello", again)).rejects.toThrow("no model");
    const slow = slowAgent(store, merging);
    await overlap(slow, () => agentOn(store).call("hello", again), "one");
    const model = scriptedModel([]);
    expect((await agentOn(store, { model }).call("hello", again)).text).toBe("ok");
    expect((await agentOn(store, { model }).call("first", { ...ctx, callId: "one" })).text).toBe(
      "slow",
    );
  });

  test("what a middleware pushed is merged along", async () => {
    const store = new FaultyStore({ fused });
    const pusher: Middleware = {
      name: "pusher",
      onCall: (step, next) => {
        step.state.contextMutable().push(userMessage("by the way"));
        return next();
      },
    };
    const slow = slowAgent(store, { ...merging, middleware: [pusher] });
    await overlap(slow, () => agentOn(store).call("second", ctx));
    const said = outline(await agentOn(store).getAgentState(null, "s"));
    expect(said).toContain("user: by the way");
    expect(said).toHaveLength(5);
  });

  test("both changed one section, differently: a conflict that names it, and nothing but the input is kept", async () => {
    const store = new FaultyStore({ fused });
    const slow = slowAgent(store, { ...merging, middleware: [edits("tasks")] });
    const other = agentOn(store, { middleware: [edits("other tasks")] });
    const error = await overlap(slow, () => other.call("second", ctx)).catch((reason) => reason);
    expect(StateConflictError.is(error)).toBe(true);
    expect(error.message).toContain("tasksContext");
    const state = await other.getAgentState(null, "s");
    expect(state?.tasksContext.tasks[0]?.content).toBe("something else");
    expect(outline(state)).toEqual(["user: first", "user: second", "assistant: ok"]);
  });

  test("both changed one section, in the same way: no conflict", async () => {
    const store = new FaultyStore({ fused });
    const slow = slowAgent(store, { ...merging, middleware: [edits("tasks")] });
    const other = agentOn(store, { middleware: [edits("tasks")] });
    await overlap(slow, () => other.call("second", ctx));
    expect(outline(await other.getAgentState(null, "s"))).toHaveLength(4);
  });

  test("another process saves again while it merges: it merges again, with what it itself changed", async () => {
    const store = new FaultyStore({ fused });
    const slow = slowAgent(store, { ...merging, middleware: [edits("plan")] });
    // Both of the others change a section that the slow one never touched.
    const others = [
      agentOn(store, { middleware: [edits("tasks")] }),
      agentOn(store, { middleware: [edits("other tasks")] }),
    ];
    await overlap(slow, async () => {
      await others[0]?.call("second", ctx);
      // The slow one's first save conflicts; its merge comes too late as well.
      store.next("save", undefined, async (run) => {
        await others[1]?.call("third", ctx);
        return run();
      });
    });
    const state = await agentOn(store).getAgentState(null, "s");
    expect(outline(state).filter((line) => line.startsWith("user"))).toEqual([
      "user: second",
      "user: third",
      "user: first",
    ]);
    expect(state?.tasksContext.tasks[0]?.content).toBe("something else");
    expect(state?.planModeContext.active).toBe(true);
  });

  test("a turn that was saved, and whose answer got lost until the store had forgotten it, is not doubled", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, merging);
    const other = agentOn(store);
    // The first save is that of the input.
    store.next("save", undefined, async (run) => {
      await run();
      for (let n = 0; n < 17; n++) await other.call(`later ${n}`, ctx);
      throw new UnknownOutcomeError("the answer was lost");
    });
    await agent.call("mine", ctx);
    const said = outline(await agentOn(store).getAgentState(null, "s"));
    expect(said.filter((line) => line === "user: mine")).toHaveLength(1);
    expect(said).toHaveLength(36);
  });

  test("a compaction the call made of the base is dropped; its own messages are all there", async () => {
    const store = new FaultyStore({ fused });
    await agentOn(store).call("base", ctx);
    const compacting: Middleware = {
      name: "compacting",
      onReasoning: (step, next) => {
        // Everything so far goes, the call's own input with it.
        step.state.contextMutable().replaceAll([]);
        step.state.summary = "all of it";
        return next();
      },
    };
    const slow = slowAgent(store, { ...merging, middleware: [compacting] });
    await overlap(slow, () => agentOn(store).call("second", ctx));
    const state = await agentOn(store).getAgentState(null, "s");
    expect(state?.summary).toBeNull();
    expect(outline(state)).toEqual([
      "user: base",
      "assistant: ok",
      "user: second",
      "assistant: ok",
      "user: first",
      "assistant: slow",
    ]);
  });

  test("not for calls that saved steps", async () => {
    const store = new FaultyStore({ fused });
    const noop = tool({
      name: "noop",
      description: "Does nothing.",
      input: z.object({}),
      execute: () => "",
    });
    const [reached, release] = [door(), door()];
    const model = scriptedModel(async (_, index) => {
      if (index === 0) return { toolCalls: [{ name: "noop", input: {} }] };
      reached.open();
      await release.opened;
      return "slow";
    });
    const options = { ...merging, persistence: "step" as const, tools: [noop], model };
    const agent = agentOn(store, options);
    const running = overlap({ agent, reached, release }, () => agentOn(store).call("2", ctx));
    await expect(running).rejects.toSatisfy(StateConflictError.is);
  });

  test("not for calls that resumed open calls", async () => {
    const store = new FaultyStore({ fused });
    const outside = tool({ name: "outside", description: "Runs outside.", input: z.object({}) });
    const script = [{ toolCalls: [{ name: "outside", input: {} }] }];
    const first = agentOn(store, { model: scriptedModel(script), tools: [outside] });
    const paused = await first.call("go", ctx);
    if (paused.reason !== "tool_suspended") throw new Error(paused.reason);
    const results = [{ toolCallId: paused.pending[0]?.toolCallId ?? "", output: "from outside" }];
    const slow = slowAgent(store, { ...merging, tools: [outside] });
    const running = slow.agent.call({ results }, ctx);
    await slow.reached.opened;
    await agentOn(store).interrupt(null, "s");
    await agentOn(store).call("second", ctx);
    slow.release.open();
    await expect(running).rejects.toSatisfy(StateConflictError.is);
    expectPaired((await agentOn(store).getAgentState(null, "s"))?.context ?? []);
  });

  test("not behind calls that another one left open", async () => {
    const store = new FaultyStore({ fused });
    const wait: Tool = tool({
      name: "wait",
      description: "Waits for somebody.",
      input: z.object({}),
      execute: () => suspend(),
    });
    const slow = slowAgent(store, merging);
    const pausing = agentOn(store, {
      model: scriptedModel([{ toolCalls: [{ name: "wait", input: {} }] }]),
      tools: [wait],
    });
    const running = overlap(slow, () => pausing.call("second", ctx));
    await expect(running).rejects.toSatisfy(StateConflictError.is);
    const state = await pausing.getAgentState(null, "s");
    expect(Object.values(state?.openCalls ?? {})).toEqual(["pending"]);
  });
});
