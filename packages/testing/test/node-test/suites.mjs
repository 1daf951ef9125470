// Run by `node --test` from runner.test.ts: the published suites under Node's own runner.
import { definePlugin, InMemoryAgentStateStore, InProcessSessionGate } from "@holdfast/core";
import { describeAgentStateStore, describePlugin, describeSessionGate } from "@holdfast/testing";

class Overwrites extends InMemoryAgentStateStore {
  async save(slot, write) {
    const stored = await this.load(slot);
    return super.save(slot, { ...write, expected: stored?.revision ?? null });
  }
}

const Store = process.env.STORE === "broken" ? Overwrites : InMemoryAgentStateStore;
describeAgentStateStore("in memory", {
  deltaLoads: true,
  create: () => new Store(),
  fuses: ["gate", "log"],
  inbox: true,
  callRecords: true,
});
describeSessionGate("in process", { create: () => new InProcessSessionGate() });
describePlugin("greeter", {
  create: () =>
    definePlugin({
      name: "greeter",
      contract: 1,
      setup: (host) => host.promptSection((prompt) => `${prompt}\nBe kind.`),
    }),
});
