import { type AgentEvent, textOf } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { HarnessAgent } from "@holdfast/harness";
import { type MemoryFlushOptions, memoryFlush } from "@holdfast/memory-flush";
import { eventually, scriptedModel, tempDirectory } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { freshOptions } from "../encryption/keys.js";
import { fleetStores, freshChoice } from "../fleet/choices.js";
import { openStore, type StoreChoice } from "../fleet/open-store.mjs";

const HOUR = 3_600_000;
const encryption = freshOptions();
const usage = { inputTokens: 1, outputTokens: 1 };

interface NodeChoice extends StoreChoice {
  readonly isEncrypted: boolean;
}

/** The store as it is, or with everything in it encrypted. */
function open({ isEncrypted, ...choice }: NodeChoice) {
  const { store, close } = openStore(choice);
  return { store: isEncrypted ? withEncryption(store, encryption) : store, close };
}

/** One of several machines that share nothing but the store. */
async function node(choice: NodeChoice, clock: () => Date, options: MemoryFlushOptions = {}) {
  const directory = await tempDirectory();
  const { store, close } = open(choice);
  const events: AgentEvent[] = [];
  const model = scriptedModel(() => ({ text: "Noted.", usage }));
  const memoryModel = scriptedModel(({ messages }) => {
    const question = messages[0] ? textOf(messages[0]) : "";
    const isFlush = question.startsWith("Today is");
    const text = isFlush ? question.slice(question.indexOf("<conversation")) : question;
    const facts = [...new Set(text.match(/fact-\w+;/g))].map((fact) => `- ${fact}`);
    return {
      text: isFlush ? facts.join("\n") || "NOTHING" : ["# Memory", ...facts].join("\n"),
      usage,
    };
  });
  const agent = HarnessAgent.create({
    name: "agent",
    model,
    clock,
    distributedStore: store,
    workspace: directory.path,
    plugins: [memoryFlush({ model: memoryModel, ...options })],
    onEvent: (event) => events.push(event),
  });
  onTestFinished(async () => {
    await agent.close();
    await close();
    await directory.cleanup();
  });
  const ended = (type: AgentEvent["type"], state?: string) =>
    events.filter(
      (event) => event.type === type && (!state || ("state" in event && event.state === state)),
    );
  return {
    agent,
    model,
    memoryModel,
    flushed: (count: number) => eventually(() => ended("memory_flush_end").length >= count),
    consolidated: (count: number) =>
      eventually(() => ended("consolidation", "end").length >= count),
    say: (text: string, sessionId = "s") => agent.call(text, { userId: "u", sessionId }),
  };
}

describe.each([
  ...fleetStores.map((kind) => ({ name: kind, kind, isEncrypted: false })),
  { name: "redis, encrypted", kind: "redis" as const, isEncrypted: true },
])("on $name", ({ kind, isEncrypted }) => {
  test("what one node hears the other knows, and both together flush once per window", async () => {
    const choice = { ...freshChoice(kind), isEncrypted };
    let time = Date.now();
    const clock = () => new Date(time);
    const [one, other] = [await node(choice, clock), await node(choice, clock)];
    await one.say("fact-a;");
    await one.consolidated(1);
    await other.say("fact-b;");
    expect(other.model.requests[0]?.system).toContain("- fact-a;");
    await other.agent.close();
    expect(other.memoryModel.requests).toEqual([]);
    time += HOUR;
    // Longer than a log keeps in a record; head and tail of it are read.
    await one.say(`fact-c; ${"and so on ".repeat(20_000)} fact-d;`);
    await one.consolidated(2);
    await one.say("Well?", "another");
    for (const fact of ["fact-a;", "fact-b;", "fact-c;", "fact-d;"])
      expect(one.model.requests.at(-1)?.system.split(fact)).toHaveLength(2);
  });

  test("what a node left behind is flushed by another, and a deleted user leaves nothing", async () => {
    const choice = { ...freshChoice(kind), isEncrypted };
    const start = Date.now();
    const clock = () => new Date(start);
    const dead = await node(choice, clock, { flushTrigger: "never" });
    await dead.say("fact-left;", "old");
    await dead.agent.close();
    const one = await node(choice, clock);
    await one.say("fact-new;", "new");
    await one.flushed(2);
    await one.agent.deleteUser("u");
    const { store, close } = open(choice);
    onTestFinished(close);
    for (const part of ["slots", "users"])
      expect(await store.keyValue.list(["memory-flush", part])).toEqual({ keys: [] });
    await one.say("Who am I?", "new");
    expect(one.model.requests.at(-1)?.system).not.toContain("fact-");
  });
});
