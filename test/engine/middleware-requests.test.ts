import {
  InMemoryAgentStateStore,
  type Message,
  type Middleware,
  ReActAgent,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const note = tool({
  name: "note",
  description: "Takes a note.",
  input: z.object({}),
  execute: () => "noted",
});
const noting: ScriptedReply = { toolCalls: [{ name: "note", input: {} }] };

function hintsIn(messages: readonly Message[] | undefined): readonly string[] {
  return (messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "hint" ? block.text : [])),
  );
}

test.each([null, 5, {}])("a hook that leaves %o as the request is told so", async (request) => {
  const forgetful: Middleware = {
    name: "forgetful",
    onModelCall(step, next) {
      step.request = request as never;
      return next();
    },
  };
  const agent = new ReActAgent({ name: "a", model: pairedModel([]), middleware: [forgetful] });
  await expect(agent.call("go")).rejects.toThrow(
    /^step\.request is .* after the onModelCall hooks/,
  );
});

describe.each([true, false])("what a hook adds to a request only, fused: %s", (fused) => {
  test("stands at its tail, is there for one step and is never persisted", async () => {
    const hinting: Middleware = {
      name: "hinting",
      onReasoning: async (step, next) => {
        step.hint(`step ${step.iteration}`, "clock");
        return next();
      },
    };
    const stateStore = new InMemoryAgentStateStore({ fused });
    const model = pairedModel([noting, "done", "again"]);
    const agent = new ReActAgent({
      name: "a",
      model,
      tools: [note],
      middleware: [hinting],
      stateStore,
    });
    await agent.call("go");
    await agent.call("more");
    expect(model.requests.map(({ messages }) => hintsIn(messages))).toEqual([
      ["step 0"],
      ["step 1"],
      ["step 0"],
    ]);
    for (const { messages } of model.requests) expect(hintsIn(messages.slice(-1))).toHaveLength(1);
    expect(hintsIn((await agent.getAgentState())?.context)).toEqual([]);
    const { log } = stateStore.companions();
    const slot = { agentId: "a", userId: null, sessionId: "default" };
    const logged = (await log.read(slot)).flatMap(({ message }) => message ?? []);
    expect(hintsIn(logged)).toEqual([]);
  });

  test("is there on every attempt of the step", async () => {
    const hinting: Middleware = {
      name: "hinting",
      onReasoning: async (step, next) => {
        step.hint("remember", "memo");
        return next();
      },
    };
    const model = pairedModel([{ text: "" }, "done"]);
    const stateStore = new InMemoryAgentStateStore({ fused });
    await new ReActAgent({ name: "a", model, middleware: [hinting], stateStore }).call("go");
    expect(hintsIn(model.requests[1]?.messages)[0]).toBe("remember");
  });
});

test("the system prompt is the same text in every step while its inputs are the same", async () => {
  const model = pairedModel([noting, noting, "done"]);
  const plan: Middleware = {
    name: "plan",
    onSystemPrompt: (prompt, { state }) =>
      state.planModeContext.active ? `${prompt}\nYou are planning.` : prompt,
  };
  const switching: Middleware = {
    name: "switching",
    onActing: async ({ state }, next) => {
      state.planModeContext.active = model.requests.length === 2;
      return next();
    },
  };
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [note],
    systemPrompt: "You take notes.",
    middleware: [plan, switching],
  });
  await agent.call("go");
  expect(model.requests.map(({ system }) => system)).toEqual([
    "You take notes.",
    "You take notes.",
    "You take notes.\nYou are planning.",
  ]);
});

describe.each([true, false])("step.stop(), fused: %s", (fused) => {
  const setup = (
    script: readonly ScriptedReply[],
    middleware: Omit<Middleware, "name">,
    more = {},
  ) => {
    const model = pairedModel([...script, "next turn"]);
    const stateStore = new InMemoryAgentStateStore({ fused });
    const options = { name: "a", model, tools: [note], stateStore };
    const agent = new ReActAgent({
      ...options,
      middleware: [{ name: "m", ...middleware }],
      ...more,
    });
    return { model, agent, plain: new ReActAgent(options) };
  };
  const stopThinking: Omit<Middleware, "name"> = {
    onReasoning: async (step, next) => {
      step.stop();
      return next();
    },
  };

  test("in onReasoning ends the call after an answer", async () => {
    const { agent } = setup(["hello"], stopThinking);
    expect(await agent.call("go")).toMatchObject({ reason: "middleware_stop", text: "hello" });
  });

  test.each([10, 1])(
    "in onReasoning closes the model's calls without running them, with %s steps allowed",
    async (maxIterations) => {
      const { model, agent, plain } = setup([noting], stopThinking, { maxIterations });
      const reply = await agent.call("go");
      expect(reply.reason).toBe("middleware_stop");
      expect(model.requests).toHaveLength(1);
      const state = await agent.getAgentState();
      expect(state && stateProblem(state)).toBeNull();
      expect((state?.context ?? []).flatMap(toolResultsOf)).toMatchObject([
        { state: "interrupted" },
      ]);
      expect((await plain.call("and?")).text).toBe("next turn");
    },
  );

  test("in onActing ends the call after the tools have run", async () => {
    const { model, agent, plain } = setup([noting], {
      onActing: async (step, next) => {
        step.stop();
        return next();
      },
    });
    expect((await agent.call("go")).reason).toBe("middleware_stop");
    expect(model.requests).toHaveLength(1);
    const state = await agent.getAgentState();
    expect(state && stateProblem(state)).toBeNull();
    expect((state?.context ?? []).flatMap(toolResultsOf)).toMatchObject([{ state: "success" }]);
    expect((await plain.call("and?")).text).toBe("next turn");
    expect(model.requests[1]?.messages.map(textOf)).toEqual(["go", "", "", "and?"]);
  });
});
