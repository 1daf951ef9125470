import {
  ConfigurationError,
  type EventFeed,
  InMemoryAgentStateStore,
  ReActAgent,
  type ReActAgentOptions,
} from "@holdfast/core";
import { type DocumentClient, documentStore, InMemoryEventFeed } from "@holdfast/core/store-kit";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";

const client: DocumentClient = {
  get: async () => null,
  compareAndSet: async () => true,
  delete: async () => false,
  list: async () => ({ keys: [] }),
};

function parts(reach: "process" | "host" | "distributed") {
  const stateStore = documentStore(client, { reach, kind: "table" });
  return { name: "assistant", model: scriptedModel([]), stateStore };
}

const agents: [string, (options: ReActAgentOptions) => ReActAgent][] = [
  ["ReActAgent", (options) => new ReActAgent(options)],
  ["HarnessAgent", ({ filesystem: _, ...options }) => HarnessAgent.create(options)],
];

test.each(agents)("%s is built with a documentStore alone", (_, build) => {
  expect(build(parts("distributed"))).toBeInstanceOf(ReActAgent);
});

test.each(agents)("%s refuses a distributed store with parts of one process", (_, build) => {
  const { gate, log, signals } = new InMemoryAgentStateStore({ fused: false }).companions();
  const local = { ...parts("distributed"), gate, log, signals };
  expect(() => build(local)).toThrow(ConfigurationError);
  expect(() => build(local)).toThrow(/gate: .*"table" serves every node.*singleNode/);
  expect(build({ ...local, singleNode: true })).toBeInstanceOf(ReActAgent);
});

test.each(agents)("%s refuses to keep events in a store that keeps none", (_, build) => {
  const on = { ...parts("distributed"), eventFeed: true };
  expect(() => build(on)).toThrow(/eventFeed: store "table" keeps no events; pass an EventFeed/);
  const local = { ...on, eventFeed: new InMemoryEventFeed() };
  expect(() => build(local)).toThrow(/event feed "memory" only this process.*singleNode/);
  expect(build({ ...local, singleNode: true })).toBeInstanceOf(ReActAgent);
  const stray = { ...parts("process"), eventFeed: {} as EventFeed };
  expect(() => build(stray)).toThrow(/eventFeed: must be true, false or an EventFeed/);
});

test("parts reach as far as their store, and a store of one process leaves them to the agent", () => {
  for (const reach of ["host", "distributed"] as const) {
    const companions = parts(reach).stateStore.companions?.();
    for (const part of Object.values({ ...companions })) expect(part?.reach).toBe(reach);
  }
  expect(parts("process").stateStore.companions).toBeUndefined();
});
