import { InMemoryAgentStateStore, ReActAgent, textOf, tool, toolResultsOf } from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel } from "./valid-pairing.js";

const named = (name: string) =>
  tool({ name, description: name, input: z.object({}), execute: () => `${name} ran` });

const reset = (...groups: readonly string[]): ScriptedReply => ({
  toolCalls: [{ name: "reset_equipped_tools", input: { groups: [...groups] } }],
});

const options = {
  name: "a",
  tools: [named("always")],
  toolGroups: [
    { name: "files", tools: [named("read"), named("write")], active: true },
    { name: "web", tools: [named("browse")], description: "Looks things up." },
  ],
  resetEquippedTools: true,
};

type Model = ReturnType<typeof pairedModel>;
const offered = (model: Model, index: number) =>
  model.requests[index]?.tools
    .map(({ name }) => name)
    .filter((name) => name !== "reset_equipped_tools");
const results = (model: Model, index: number) =>
  (model.requests[index]?.messages ?? [])
    .flatMap(toolResultsOf)
    .map(({ state, output }) => [state, output[0]?.type === "text" ? output[0].text : ""]);

describe.each([true, false])("tool groups, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test("offer a session the tools without a group and those of groups that are on by default", async () => {
    const model = pairedModel(["ok"]);
    await new ReActAgent({ ...options, model, stateStore: stateStore() }).call("hi");
    expect(offered(model, 0)).toEqual(["always", "read", "write"]);
  });

  test("are switched by reset_equipped_tools, from the next request on, and stay so in any process", async () => {
    const store = stateStore();
    const model = pairedModel([reset("web"), "switched", "still"]);
    await new ReActAgent({ ...options, model, stateStore: store }).call("hi");
    expect(results(model, 1)).toEqual([["success", "On: web."]]);
    expect(offered(model, 1)).toEqual(["always", "browse"]);
    await new ReActAgent({ ...options, model, stateStore: store }).call("again");
    expect(offered(model, 2)).toEqual(["always", "browse"]);
    const state = await new ReActAgent({ ...options, model, stateStore: store }).getAgentState();
    expect(state?.toolContext.activatedGroups).toEqual(["web"]);
  });

  test("can all be switched off, and unknown ones are refused with what there is", async () => {
    const model = pairedModel([reset("wbe"), reset(), "ok"]);
    await new ReActAgent({ ...options, model, stateStore: stateStore() }).call("hi");
    expect(results(model, 1)).toEqual([["error", "No such group: wbe. There are: files, web."]]);
    expect(offered(model, 1)).toEqual(["always", "read", "write"]);
    expect(offered(model, 2)).toEqual(["always"]);
  });

  test("that are off are refused though the model knows the tool's name", async () => {
    const model = pairedModel([{ toolCalls: [{ name: "browse", input: {} }] }, "ok"]);
    await new ReActAgent({ ...options, model, stateStore: stateStore() }).call("hi");
    expect(results(model, 1)).toEqual([["error", "browse is switched off in this session."]]);
  });

  test("of two sessions at once do not leak into each other", async () => {
    let meet = () => {};
    const switched = new Promise<void>((resolve) => {
      meet = resolve;
    });
    let count = 0;
    const model = pairedModel(async ({ messages }) => {
      const group = textOf(messages[0] as never);
      if (messages.length === 1) return reset(group);
      // Both have switched before either goes on.
      if (++count === 2) meet();
      await switched;
      return "ok";
    });
    const agent = new ReActAgent({ ...options, model, stateStore: stateStore() });
    await Promise.all([
      agent.call("web", { sessionId: "s1" }),
      agent.call("files", { sessionId: "s2" }),
      agent.call("web", { userId: "u", sessionId: "s2" }),
    ]);
    const active = async (userId: string | null, sessionId: string) =>
      (await agent.getAgentState(userId, sessionId))?.toolContext.activatedGroups;
    expect(await active(null, "s1")).toEqual(["web"]);
    expect(await active(null, "s2")).toEqual(["files"]);
    expect(await active("u", "s2")).toEqual(["web"]);
    const tools = (sessionText: string) =>
      model.requests
        .filter(
          ({ messages }) => messages.length > 1 && textOf(messages[0] as never) === sessionText,
        )
        .map((request) => request.tools.map(({ name }) => name));
    for (const names of tools("web")) expect(names).not.toContain("read");
    for (const names of tools("files")) expect(names).not.toContain("browse");
  });

  test("can be switched from outside through the state", async () => {
    const model = pairedModel(["ok"]);
    const agent = new ReActAgent({ ...options, model, stateStore: stateStore() });
    await agent.updateAgentState(null, "s", (state) => {
      state.toolContext.activatedGroups = ["web", "a group of an older release"];
    });
    await agent.call("hi", { sessionId: "s" });
    expect(offered(model, 0)).toEqual(["always", "browse"]);
  });
});

test("without resetEquippedTools the model cannot switch groups", async () => {
  const model = pairedModel([reset("web"), "ok"]);
  await new ReActAgent({ ...options, resetEquippedTools: false, model }).call("hi");
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["always", "read", "write"]);
  expect(results(model, 1)[0]?.[0]).toBe("error");
  expect(offered(model, 1)).toEqual(["always", "read", "write"]);
});

test("reset_equipped_tools tells the model what groups there are", async () => {
  const model = pairedModel(["ok"]);
  await new ReActAgent({ ...options, model }).call("hi");
  const description = model.requests[0]?.tools.find(
    ({ name }) => name === "reset_equipped_tools",
  )?.description;
  expect(description).toContain("- files");
  expect(description).toContain("- web: Looks things up.");
});
