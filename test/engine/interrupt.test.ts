import {
  type AgentEvent,
  CallAbortedError,
  InMemoryAgentStateStore,
  type InterruptControl,
  type Middleware,
  type ReActAgent,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { modelOf, stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const none = z.object({});

describe.each([true, false])("an interrupt, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  test("before the first step keeps the input", async () => {
    const store = newStore();
    const model = scriptedModel(() => "ok");
    const early: Middleware = {
      name: "early",
      onCall: async (step, next) => {
        await agent.interrupt(step.slot.userId, step.slot.sessionId);
        return next();
      },
    };
    const agent = agentOn(store, { model, middleware: [early] });
    const reply = await agent.call("hello", ctx);
    expect(reply).toMatchObject({ reason: "interrupted", text: "" });
    expect(model.requests).toHaveLength(0);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: hello"]);
    expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted"]);
  });

  test("by a hook of the call itself is answered before the call has ended", async () => {
    const store = newStore();
    const answers: unknown[] = [];
    const own: Middleware = {
      name: "own",
      async onReasoning(step, next) {
        answers.push(await agent.interrupt(step.slot.userId, step.slot.sessionId, "Stop."));
        return next();
      },
    };
    const agent = agentOn(store, { middleware: [own] });
    expect(await agent.call("hello", ctx)).toMatchObject({ reason: "interrupted" });
    expect(answers).toEqual(["stopped"]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: hello", "user: Stop."]);
  });

  test("during a model's reply keeps the text so far and does not wait for the model", async () => {
    const store = newStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half a sen", reached.open) });
    const running = agent.call("hello", ctx);
    await reached.opened;
    expect(await agent.interrupt({ sessionId: "s" })).toBe("stopped");
    expect(await running).toMatchObject({ reason: "interrupted", text: "half a sen" });
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: hello",
      "assistant: half a sen",
    ]);
  });

  test("by a tool itself, in its first tick, does not wait for that tool", async () => {
    const leave = new AbortController();
    const stubborn = tool({
      name: "stubborn",
      description: "Ends the call and never answers.",
      input: none,
      execute: () => {
        leave.abort();
        return new Promise(() => undefined);
      },
    });
    const agent = agentOn(newStore(), {
      model: scriptedModel([{ toolCalls: [{ name: "stubborn", input: {} }] }]),
      tools: [stubborn],
    });
    const call = agent.call("hello", { ...ctx, signal: leave.signal });
    await expect(call).rejects.toSatisfy(CallAbortedError.is);
    expectPaired((await agent.getAgentState(null, "s"))?.context ?? []);
  });

  test("on a chunk stops before the next one", async () => {
    const store = newStore();
    const events: AgentEvent[] = [];
    const agent = agentOn(store, {
      model: scriptedModel([{ text: "abcdef", chunkSize: 1 }]),
      onEvent: (event) => {
        events.push(event);
        if (event.type === "text_delta" && event.text === "c") void agent.interrupt(null, "s");
      },
    });
    const reply = await agent.call("hello", ctx);
    expect(reply).toMatchObject({ reason: "interrupted" });
    expect("abcdef".startsWith(reply.text) && reply.text !== "abcdef").toBe(true);
    expect(events.filter(({ type }) => type === "interrupted")).toMatchObject([
      { kind: "interrupt" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "call_end", reason: "interrupted" });
  });

  test("in a reply that already called tools closes those calls", async () => {
    const store = newStore();
    const reached = door();
    const model = modelOf(async function* () {
      yield { type: "text_delta", text: "Let me look." };
      yield { type: "tool_call", id: "call_0", name: "look", input: {} };
      reached.open();
      await new Promise(() => undefined);
    });
    const agent = agentOn(store, { model });
    const running = agent.call("hello", ctx);
    await reached.opened;
    await agent.interrupt(null, "s");
    await running;
    const state = await agent.getAgentState(null, "s");
    expectPaired(state?.context ?? []);
    expect(state?.openCalls).toEqual({});
    expect(outline(state).slice(0, 2)).toEqual([
      "user: hello",
      "assistant: Let me look. + call look",
    ]);
  });

  test("between two steps keeps the first and does not begin the second", async () => {
    const store = newStore();
    const between: Middleware = {
      name: "between",
      // The tool has answered; the interrupt comes while hooks still run.
      onActing: async (_, next) => {
        const results = await next();
        await agent.interrupt(null, "s");
        return results;
      },
    };
    const model = scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "never"]);
    const agent: ReActAgent = agentOn(store, {
      model,
      tools: [tool({ name: "look", description: "Looks.", input: none, execute: () => "seen" })],
      middleware: [between],
    });
    const reply = await agent.call("hello", ctx);
    expect(reply.reason).toBe("interrupted");
    expect(model.requests).toHaveLength(1);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: hello",
      "assistant: call look",
      "tool: success seen",
    ]);
  });

  test("between a reply and its tools: none of them runs, and their calls are closed", async () => {
    const store = newStore();
    let ran = 0;
    const look = tool({ name: "look", description: "Looks.", input: none, execute: () => ++ran });
    const after: Middleware = {
      name: "after",
      onReasoning: async (_, next) => {
        const message = await next();
        await agent.interrupt(null, "s");
        return message;
      },
    };
    const model = scriptedModel([
      { text: "Let me see.", toolCalls: [{ name: "look", input: {} }] },
    ]);
    const agent: ReActAgent = agentOn(store, { model, tools: [look], middleware: [after] });
    const reply = await agent.call("hello", ctx);
    expect(reply).toMatchObject({ reason: "interrupted", text: "Let me see." });
    expect(ran).toBe(0);
    const state = await agent.getAgentState(null, "s");
    expectPaired(state?.context ?? []);
    expect(state?.openCalls).toEqual({});
    expect(outline(state)[2]).toMatch(/^tool: interrupted /);
  });

  test("during tools keeps finished results, closes running ones and tells them", async () => {
    const store = newStore();
    const fastDone = door();
    const [heeding, ignoring] = [door(), door()];
    let told: unknown = "nothing";
    let control: InterruptControl | undefined;
    const tools = [
      tool({ name: "fast", description: "Answers at once.", input: none, execute: () => "fast" }),
      tool({
        name: "heeds",
        description: "Stops when told to.",
        input: none,
        execute: (_, { signal, agentState }) => {
          control = agentState?.interruptControl;
          heeding.open();
          return new Promise((_, reject) => {
            signal?.addEventListener("abort", () => {
              told = control?.isInterrupted();
              reject(signal.reason);
            });
          });
        },
      }),
      tool({
        name: "ignores",
        description: "Never ends.",
        input: none,
        execute: () => {
          ignoring.open();
          return new Promise(() => undefined);
        },
      }),
    ];
    const model = scriptedModel([
      { toolCalls: ["fast", "heeds", "ignores"].map((name) => ({ name, input: {} })) },
      "after",
    ]);
    const agent = agentOn(store, {
      model,
      tools,
      onEvent: (event) => {
        if (event.type === "tool_result" && event.name === "fast") fastDone.open();
      },
    });
    const running = agent.call("hello", ctx);
    await Promise.all([fastDone.opened, heeding.opened, ignoring.opened]);
    expect(control?.isInterrupted()).toBe(false);
    expect(control?.message).toBeNull();
    await agent.interrupt(null, "s", "Use the other file.");
    const reply = await running;
    expect(reply.reason).toBe("interrupted");
    expect(told).toBe(true);
    expect(control?.message && outline([control.message])).toEqual(["user: Use the other file."]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: hello",
      "assistant: call fast + call heeds + call ignores",
      expect.stringMatching(/^tool: success fast \+ interrupted .* \+ interrupted .*$/),
      "user: Use the other file.",
    ]);
    await agent.call("go on", ctx);
    expectPaired(model.requests[1]?.messages ?? []);
    expect(outline(model.requests[1]?.messages).slice(-2)).toEqual([
      "user: Use the other file.",
      "user: go on",
    ]);
  });

  test("tells twenty tools at once, without Node suspecting a leak", async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error) => warnings.push(name);
    process.on("warning", warned);
    const all = door();
    let started = 0;
    let told = 0;
    const wait = tool({
      name: "wait",
      description: "Waits to be told.",
      input: none,
      execute: (_, { signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => {
            told++;
            reject(signal.reason);
          });
          if (++started === 20) all.open();
        }),
    });
    const toolCalls = Array.from({ length: 20 }, () => ({ name: "wait", input: {} }));
    const agent = agentOn(newStore(), { model: scriptedModel([{ toolCalls }]), tools: [wait] });
    const running = agent.call("go", ctx);
    await all.opened;
    await agent.interrupt(null, "s");
    await running;
    // Warnings are emitted on the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warned);
    expect(told).toBe(20);
    expect(warnings).toEqual([]);
  });

  test("adds its message last, given as text or as a message", async () => {
    const store = newStore();
    for (const message of ["as text", userMessage("as a message", { id: "m1", name: "boss" })]) {
      const reached = door();
      const agent = agentOn(store, { model: stallingModel("…", reached.open) });
      const running = agent.call("hello", ctx);
      await reached.opened;
      await agent.interrupt(null, "s", message);
      await running;
    }
    const state = await agentOn(store).getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: hello",
      "assistant: …",
      "user: as text",
      "user: hello",
      "assistant: …",
      "user: as a message",
    ]);
    expect(state?.context.at(-1)).toMatchObject({ id: "m1", name: "boss" });
  });

  test("leaves a tool that went on no way into the session", async () => {
    const store = newStore();
    const [started, edit, edited] = [door(), door(), door()];
    const zombie = tool({
      name: "zombie",
      description: "Ignores its signal and edits the state much later.",
      input: none,
      execute: async (_, { agentState }) => {
        started.open();
        await edit.opened;
        agentState?.contextMutable().push(userMessage("from the grave"));
        if (agentState) agentState.planModeContext = { active: true, planFile: null };
        edited.open();
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: "zombie", input: {} }] }, "fine"]);
    const agent = agentOn(store, { model, tools: [zombie] });
    const running = agent.call("1", ctx);
    await started.opened;
    await agent.interrupt(null, "s");
    await running;
    edit.open();
    await edited.opened;
    await agent.call("2", ctx);
    expect(outline(model.requests[1]?.messages).join()).not.toContain("grave");
    const state = await agent.getAgentState(null, "s");
    expect(outline(state).join()).not.toContain("grave");
    expect(state?.planModeContext.active).toBe(false);
  });
});
