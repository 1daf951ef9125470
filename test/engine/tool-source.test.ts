import {
  definePlugin,
  MiddlewareError,
  ReActAgent,
  type Tool,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const named = (name: string, group?: string): Tool =>
  tool({ name, description: name, input: z.object({}), group, execute: () => `${name} ran` });

/** A plugin whose tools are whatever the list holds at the time. */
const sourceOf = (name: string, tools: Tool[], group?: string) =>
  definePlugin({
    name,
    contract: 1,
    setup(host) {
      host.toolSource(() => tools);
      if (group !== undefined) host.toolGroup({ name: group, description: "From outside." });
    },
  });

const offered = (model: ReturnType<typeof scriptedModel>, index: number) =>
  model.requests[index]?.tools.map(({ name }) => name);

test("tools of a source come and go between steps, in a stable order behind the built ones", async () => {
  const tools = [named("b"), named("a")];
  const model = scriptedModel([
    { toolCalls: [{ name: "grow", input: {} }] },
    { toolCalls: [{ name: "c", input: {} }] },
    "done",
    "later",
  ]);
  const grow = tool({
    name: "grow",
    description: "Adds a tool.",
    input: z.object({}),
    execute: () => void tools.push(named("c")),
  });
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [grow],
    plugins: [sourceOf("p", tools)],
  });
  await agent.call("hi");
  expect(offered(model, 0)).toEqual(["grow", "b", "a"]);
  expect(offered(model, 1)).toEqual(["grow", "b", "a", "c"]);
  const results = model.requests[2]?.messages.flatMap(toolResultsOf) ?? [];
  expect(results.at(-1)).toMatchObject({ name: "c", state: "success" });
  tools.length = 0;
  await agent.call("again");
  expect(offered(model, 3)).toEqual(["grow"]);
});

test("a tool that is gone when the model calls it is answered with what there is", async () => {
  const tools = [named("gone")];
  const model = scriptedModel((request) => {
    if (request.messages.some(({ role }) => role === "tool")) return "I see.";
    tools.length = 0;
    return { toolCalls: [{ name: "gone", input: {} }] };
  });
  const agent = new ReActAgent({ name: "a", model, plugins: [sourceOf("p", tools)] });
  expect((await agent.call("hi")).text).toBe("I see.");
  expect(model.requests[1]?.messages.flatMap(toolResultsOf)).toMatchObject([
    { state: "error", output: [{ text: "There is no tool gone. There are: none." }] },
  ]);
});

test("a name that is taken is passed over: the built tool wins, then the first source", async () => {
  const mine = named("same");
  const first = [named("same"), named("one")];
  const second = [named("one"), named("two")];
  const model = scriptedModel(["ok"]);
  const plugins = [sourceOf("p", first), sourceOf("q", second)];
  await new ReActAgent({ name: "a", model, tools: [mine], plugins }).call("hi");
  expect(offered(model, 0)).toEqual(["same", "one", "two"]);
});

test("tools of a declared group wait until the group is switched on", async () => {
  const model = scriptedModel([
    { toolCalls: [{ name: "reset_equipped_tools", input: { groups: ["web"] } }] },
    "ok",
  ]);
  const plugins = [sourceOf("p", [named("browse", "web")], "web")];
  await new ReActAgent({ name: "a", model, plugins, resetEquippedTools: true }).call("hi");
  expect(offered(model, 0)).toEqual(["reset_equipped_tools"]);
  expect(model.requests[0]?.tools[0]?.description).toContain("- web: From outside.");
  expect(offered(model, 1)).toEqual(["reset_equipped_tools", "browse"]);
});

test("a source that returns no list fails the call by its plugin's name", async () => {
  for (const [returned, words] of [
    [null, "null"],
    [Promise.resolve([]), "a Promise"],
  ] as const) {
    const source = sourceOf("mine", returned as unknown as Tool[]);
    const agent = new ReActAgent({ name: "a", model: scriptedModel(["ok"]), plugins: [source] });
    const failing = agent.call("hi");
    await expect(failing).rejects.toSatisfy(MiddlewareError.is);
    await expect(failing).rejects.toThrow(
      `plugin "mine": toolSource returned ${words} where a list of tools is needed`,
    );
  }
});
