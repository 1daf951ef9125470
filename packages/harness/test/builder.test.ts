import { type AgentEvent, characterEstimate, InMemoryOffloader, tool } from "@holdfast/core";
import type { PortName, Ports } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { HarnessAgent } from "../src/index.js";
import { countingCloses, inMemoryParts } from "./stores.js";

function named(name: string) {
  return tool({ name, description: `Does ${name}.`, input: z.object({}), execute: () => name });
}

function toolNames(model: ReturnType<typeof scriptedModel>): string[] {
  return (model.requests.at(-1)?.tools ?? []).map(({ name }) => name);
}

test("tools add up, and a group's tools are offered while the group is active", async () => {
  const model = scriptedModel(() => "done");
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(inMemoryParts().stateStore)
    .workspace("./unused", { tools: false })
    .sessionTools(false)
    .tools(named("one"), named("two"))
    .tools(named("three"))
    .toolGroup("on", [named("four")], { active: true })
    .toolGroup("off", [named("five")])
    .build();
  await agent.call("go");
  expect(toolNames(model)).toEqual(["one", "two", "three", "four", "read_offloaded"]);
  await agent.close();
});

test("one builder makes several agents; what is set later does not reach the earlier ones", async () => {
  const model = scriptedModel(() => "done");
  const builder = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(inMemoryParts().stateStore)
    .workspace("./unused", { tools: false })
    .sessionTools(false)
    .tools(named("one"));
  const first = builder.build();
  const second = builder.tools(named("two")).systemPrompt("later").build();
  await second.call("go");
  expect(toolNames(model)).toEqual(["one", "two", "read_offloaded"]);
  await first.call("go");
  expect(toolNames(model)).toEqual(["one", "read_offloaded"]);
  expect(model.requests.at(-1)?.system).toBe("");
});

test("slot() decides the key of a session", async () => {
  const { stateStore } = inMemoryParts();
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(() => "done"))
    .stateStore(stateStore)
    .slot((ctx) => ({ userId: `acme/${ctx.userId}`, sessionId: ctx.sessionId ?? "main" }))
    .build();
  await agent.call("go", { userId: "alice" });
  const { slots } = await stateStore.list();
  expect(slots.map(({ slot }) => slot)).toEqual([
    { agentId: "assistant", userId: "acme/alice", sessionId: "main" },
  ]);
});

test("fallbackModel, onEvent, persistence and maxIterations reach the engine", async () => {
  const events: AgentEvent[] = [];
  const failing = scriptedModel(() => ({ error: new TypeError("offline") }));
  const fallback = scriptedModel(() => ({ toolCalls: [{ name: "one", input: {} }] }));
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(failing)
    .fallbackModel(fallback)
    .stateStore(inMemoryParts().stateStore)
    .stateCache({ maxSessions: 0 })
    .rememberCalls({ max: 10 })
    .conflictPolicy("merge-append")
    .tools(named("one"))
    .persistence("step")
    .maxIterations(2)
    .onEvent((event) => events.push(event))
    .build();
  const reply = await agent.call("go");
  expect(reply.reason).toBe("max_iterations");
  // Two rounds, and one call without tools to explain.
  expect(fallback.requests).toHaveLength(3);
  const saves = events.filter(({ type }) => type === "state_saved");
  expect(saves.length).toBeGreaterThan(1);
  expect(events.at(-1)?.type).toBe("call_end");
});

test("every port set on the builder is the one plugins get", async () => {
  const { stateStore, log, gate, signals, keyValue } = inMemoryParts();
  const set = {
    stateStore,
    log,
    gate,
    signals,
    keyValue,
    offloader: new InMemoryOffloader(),
    tokenCounter: characterEstimate(),
    model: scriptedModel([]),
  };
  const got: Partial<Ports> = {};
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(set.model)
    .stateStore(stateStore)
    .log(log)
    .gate(gate)
    .signals(signals)
    .keyValue(keyValue)
    .offloader(set.offloader)
    .tokenCounter(set.tokenCounter)
    .use({
      name: "looker",
      contract: 1,
      setup(host) {
        const found = Object.keys(set).map((name) => ({
          name,
          find: host.optional(name as PortName),
        }));
        host.onStart(async () => {
          for (const { name, find } of found) Object.assign(got, { [name]: find() });
        });
      },
    })
    .build();
  await agent.ready();
  for (const [name, port] of Object.entries(set)) expect(got[name as PortName]).toBe(port);
});

test("close() leaves a store open that the user made", async () => {
  let closed = 0;
  const stateStore = countingCloses(inMemoryParts().stateStore, () => closed++);
  const agent = HarnessAgent.create({
    name: "assistant",
    model: scriptedModel(() => "done"),
    stateStore,
  });
  await agent.call("go");
  await agent.close();
  expect(closed).toBe(0);
});
