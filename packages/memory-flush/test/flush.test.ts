import { describe, expect, test } from "vitest";
import {
  alice,
  MemoryWorld,
  MINUTE,
  memoryAgent,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

const memory = { consolidation: noConsolidation };

describe("a flush", () => {
  test("notes the facts of a conversation under the day, with time, session and agent", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- Alice drinks tea\n- Alice lives in Graz", memory });
    await one.say("I drink tea, here in Graz.");
    await one.seen("memory_flush_end");
    expect(await world.facts()).toEqual(["- Alice drinks tea", "- Alice lives in Graz"]);
    expect(await world.notes()).toContain(
      '## 2025-03-10T12:00:00.000Z session "s1", agent "agent"\n',
    );
  });

  test("is no part of the call: the reply is there while the model still thinks", async () => {
    const world = new MemoryWorld();
    let answer: (text: string) => void = () => undefined;
    const flush = () => new Promise<string>((resolve) => (answer = resolve));
    const one = memoryAgent(world, { flush, memory });
    const reply = await one.agent.call("Hello.", { userId: "alice", sessionId: "s1" });
    expect(reply.text).toBe("re: Hello.");
    await one.seen("model_call_start", 2);
    expect(await world.notes()).toBe("");
    answer("- late");
    await one.seen("memory_flush_end");
    expect(await world.facts()).toEqual(["- late"]);
  });

  test("shows only what was said since the last one", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory });
    await one.say("first");
    await one.seen("memory_flush_end");
    world.time += 11 * MINUTE;
    await one.say("second");
    await one.seen("memory_flush_end", 2);
    const [first, second] = one.flushes().map(questionOf);
    expect(first).toContain("first");
    expect(second).toContain("second");
    expect(second).not.toContain("first");
  });

  test("shows the memory and today's notes as what is known", async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "- Alice has a cat\n");
    await world.files.appendNotes(alice, new Date(world.time), "before", "- The cat is called Tom");
    const one = memoryAgent(world, { memory });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    const question = questionOf(one.flushes()[0]);
    expect(question).toMatch(/<memory file="MEMORY.md">\n- Alice has a cat\n<\/memory>/);
    expect(question).toMatch(/<notes day="2025-03-10">[^<]*- The cat is called Tom\n<\/notes>/);
  });

  test("writes nothing when there is nothing to remember, and does not ask again", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "NOTHING", memory });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    expect(await world.filesystem.list(alice)).toEqual([]);
    expect(one.events.find(({ type }) => type === "memory_flush_end")).toMatchObject({
      entries: 0,
      background: true,
    });
    world.time += 11 * MINUTE;
    await one.agent.close();
    expect(one.flushes()).toHaveLength(1);
  });

  test("does not note again word for word what is known", async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "# Memory\n\n- Alice has a cat\n");
    const one = memoryAgent(world, { flush: "- Alice has a cat\n- Alice has a dog", memory });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    expect(await world.facts()).toEqual(["- Alice has a dog"]);
  });

  test("puts the project's own rules last", async () => {
    const world = new MemoryWorld();
    const rule = "Never note personal data.";
    const one = memoryAgent(world, { memory: { ...memory, flushPrompt: rule } });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    expect(one.flushes()[0]?.system.endsWith(`\n${rule}`)).toBe(true);
    expect(one.flushes()[0]?.tools).toEqual([]);
  });

  test("leaves a mark in the log that says what it covers", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- a\n- b", memory });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    const records = await world.log();
    const mark = records.at(-1)?.mark;
    expect(mark).toEqual({
      name: "memory_flush",
      details: { entries: 2, through: records.at(-2)?.seq },
    });
  });

  test("tells what it cost", async () => {
    const world = new MemoryWorld();
    const usage = { inputTokens: 70, outputTokens: 3 };
    const one = memoryAgent(world, { flush: { text: "- a", usage }, memory });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    expect(one.events.find(({ type }) => type === "memory_flush_end")).toMatchObject({ usage });
    const calls = one.events.filter(
      (event) => event.type === "model_call_end" && event.purpose === "memory_flush",
    );
    expect(calls).toHaveLength(1);
  });

  test("uses the agent's own model when none is given", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, {
      memory: { ...memory, model: undefined },
      reply: ({ tools }) => (tools.length === 0 ? "- from the agent's model" : "Hello."),
    });
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    expect(await world.facts()).toEqual(["- from the agent's model"]);
  });

  test("keeps apart what users and anonymous sessions said", async () => {
    const world = new MemoryWorld();
    const flush = (request: Parameters<typeof questionOf>[0]) =>
      `- heard ${/i am (\w+)/.exec(questionOf(request))?.[1]}`;
    const one = memoryAgent(world, { flush, memory });
    await one.say("i am alice", "s1", "alice");
    await one.say("i am bob", "s1", "bob");
    await one.say("i am nobody", "s1", null);
    await one.seen("memory_flush_end", 3);
    expect(await world.facts({ ...alice, userId: "alice" })).toEqual(["- heard alice"]);
    expect(await world.facts({ ...alice, userId: "bob" })).toEqual(["- heard bob"]);
    expect(await world.facts({ ...alice, userId: null })).toEqual(["- heard nobody"]);
    expect(await world.facts({ ...alice, userId: null, sessionId: "s2" })).toEqual([]);
  });
});
