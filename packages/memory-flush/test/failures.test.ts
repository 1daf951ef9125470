import {
  InMemoryFilesystem,
  InvalidInputError,
  type KeyValueStore,
  ModelError,
  StoreUnavailableError,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import {
  alice,
  MemoryWorld,
  MINUTE,
  memoryAgent,
  nameOf,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

const consolidation = noConsolidation;
const always = { flushTrigger: "always", consolidation } as const;

describe("a flush that fails", () => {
  test("fails no call, says why without contents, and loses nothing", async () => {
    const world = new MemoryWorld();
    let isBroken = true;
    const flush = () => {
      if (isBroken) throw new Error("the provider quotes: my secret is 42");
      return "- a fact";
    };
    const one = memoryAgent(world, { flush, memory: { consolidation } });
    await one.say("my secret is 42");
    await one.seen("memory_flush_failed");
    expect(one.events.find(({ type }) => type === "memory_flush_failed")).toMatchObject({
      error: "Error",
      background: true,
      slot: alice,
    });
    isBroken = false;
    world.time += 10 * MINUTE;
    await one.say("and more");
    await one.seen("memory_flush_end");
    expect(questionOf(one.flushes().at(-1))).toMatch(/my secret is 42[\s\S]*and more/);
    expect(await world.facts()).toEqual(["- a fact"]);
  });

  test("is tried again after the throttle, not at the next call", async () => {
    const world = new MemoryWorld();
    const flush = { error: new ModelError("overloaded") };
    const one = memoryAgent(world, { flush, memory: { consolidation } });
    await one.say("one");
    await one.seen("memory_flush_failed");
    await one.say("two");
    await one.agent.close();
    expect(one.flushes()).toHaveLength(1);
  });

  test('with "always" is tried again at the next call, and ever more seldom while it keeps failing', async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: { error: new ModelError("down") }, memory: always });
    await one.say("first");
    await one.seen("memory_flush_failed", 1);
    await one.say("second");
    await one.seen("memory_flush_failed", 2);
    for (let minute = 0; minute < 60; minute++) {
      await one.say(`minute ${minute}`);
      world.time += MINUTE;
    }
    world.time += 60 * MINUTE;
    await one.say("last");
    await one.agent.close();
    expect(one.flushes().length).toBeGreaterThan(4);
    expect(one.flushes().length).toBeLessThan(12);
  });

  test("is left after its time-out, also when the model heeds no signal", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, {
      flush: () => new Promise(() => undefined),
      memory: { ...always, timeoutMs: 50 },
    });
    await one.say("Hello.");
    await one.seen("memory_flush_failed");
    expect(one.events.find(({ type }) => type === "memory_flush_failed")).toMatchObject({
      error: "the model gave no answer within 50 ms",
    });
  });

  test("has what it noted before it failed consolidated all the same", async () => {
    const world = new MemoryWorld();
    const words = "some words here ".repeat(300);
    const talker = memoryAgent(world, { memory: { flushTrigger: "never" } });
    for (let index = 0; index < 30; index++) await talker.say(`message ${index} ${words}`);
    const one = memoryAgent(world, {
      flush: (_, index) => (index === 0 ? "- fact 0" : { error: new ModelError("down") }),
      consolidation: "# Memory\n- fact 0",
    });
    await one.say("now");
    await one.seen("memory_flush_failed");
    await one.seen("consolidation_end");
    expect(await world.memory()).toBe("# Memory\n- fact 0\n");
  });

  test("keeps what the requests before the failing one brought", async () => {
    const world = new MemoryWorld();
    const words = "some words here ".repeat(300);
    const flush = (_: unknown, index: number) =>
      index === 1 ? { error: new ModelError("down") } : `- fact ${index}`;
    const one = memoryAgent(world, { flush, memory: { flushTrigger: "never", consolidation } });
    for (let index = 0; index < 30; index++) await one.say(`message ${index} ${words}`);
    const two = memoryAgent(world, { flush, memory: always });
    await two.say("now");
    await two.seen("memory_flush_failed");
    expect(await world.facts()).toEqual(["- fact 0"]);
    await two.say("again");
    await two.seen("memory_flush_end");
    const questions = two.flushes().map(questionOf);
    expect(questions[2]).not.toContain("message 0 ");
    expect(questions[2]?.slice(0, 2_000)).toBe(questions[1]?.slice(0, 2_000));
  });

  test("is an event also when the store for its place is down, and calls go on", async () => {
    const world = new MemoryWorld();
    const down = () => Promise.reject(new StoreUnavailableError("down"));
    const keyValue: KeyValueStore = Object.assign(Object.create(world.store.keyValue), {
      get: down,
      put: down,
    });
    const one = memoryAgent(world, { memory: always, agent: { keyValue } });
    await one.say("Hello.");
    await one.seen("memory_flush_failed");
    expect(one.events.map(nameOf)).not.toContain("memory_flush_start");
    expect(one.events.find(({ type }) => type === "memory_flush_failed")).toMatchObject({
      error: "UNAVAILABLE",
    });
  });

  test("because the notes could not be written is tried again, and no note is doubled", async () => {
    const world = new MemoryWorld();
    const filesystem = new InMemoryFilesystem();
    let appends = 0;
    const append = filesystem.append.bind(filesystem);
    filesystem.append = async (...args) => {
      appends++;
      if (appends === 1) throw new StoreUnavailableError("before");
      await append(...args);
      if (appends === 2) throw new StoreUnavailableError("after");
    };
    const flush = (_: unknown, index: number) => `- fact ${index}`;
    const one = memoryAgent(world, { flush, memory: always, agent: { filesystem } });
    for (let call = 1; call <= 2; call++) {
      await one.say(`call ${call}`);
      await one.seen("memory_flush_failed", call);
      world.time += 2 * MINUTE;
    }
    await one.say("call 3");
    await one.seen("memory_flush_end");
    // The second was written although its writer was told otherwise: the third goes on behind it.
    expect(questionOf(one.flushes().at(-1))).not.toContain("\ncall 2\n");
    const bytes = await filesystem.read(alice, `memory/${world.today}.md`);
    const facts = new TextDecoder().decode(bytes ?? undefined).match(/^- .*$/gm);
    expect(facts).toEqual(["- fact 1", "- fact 2"]);
  });
});

test("when a day's notes are full the conversation waits for another day and is not lost", async () => {
  const world = new MemoryWorld();
  const full = `- ${"x".repeat(78)}\n`.repeat(3_300);
  await world.files.appendNotes(alice, new Date(world.time), "much", full);
  const one = memoryAgent(world, { flush: "- a fact", memory: { consolidation } });
  await one.say("on a full day");
  await one.seen("memory_flush_failed");
  expect(one.flushes()).toEqual([]);
  expect(one.events.find(({ type }) => type === "memory_flush_failed")).toMatchObject({
    error: expect.stringContaining("notes are full"),
  });
  world.time += 86_400_000;
  await one.say("on the next");
  await one.seen("memory_flush_end");
  expect(questionOf(one.flushes()[0])).toContain("on a full day");
  expect(await world.facts()).toEqual(["- a fact"]);
});

test("a request that is too long for the model is made in smaller ones", async () => {
  const world = new MemoryWorld();
  const flush = (request: Parameters<typeof questionOf>[0]) => {
    const question = questionOf(request);
    if (question.length > 20_000)
      throw Object.assign(new Error("prompt is too long"), { code: "context_length_exceeded" });
    return `- ${question.match(/message \d+ /g)?.length} messages`;
  };
  const one = memoryAgent(world, { flush, memory: { flushTrigger: "never", consolidation } });
  for (let index = 0; index < 12; index++)
    await one.say(`message ${index} ${"some words here ".repeat(150)}`);
  const two = memoryAgent(world, { flush, memory: always });
  await two.say("now");
  await two.seen("memory_flush_end");
  expect(two.events.map(nameOf)).not.toContain("memory_flush_failed");
});

test("a MEMORY.md that cannot be read does not keep facts from being noted, and is not replaced", async () => {
  const world = new MemoryWorld();
  const filesystem = new InMemoryFilesystem();
  const read = filesystem.read.bind(filesystem);
  filesystem.read = async (namespace, path) => {
    if (path === "MEMORY.md") throw new InvalidInputError("it is a link");
    return read(namespace, path);
  };
  const one = memoryAgent(world, { flush: "- a fact", agent: { filesystem } });
  await one.say("Hello.");
  await one.seen("consolidation_failed");
  const paths = (await filesystem.list(alice)).map(({ path }) => path);
  expect(paths).toContain(`memory/${world.today}.md`);
  expect(paths).not.toContain("MEMORY.md");
});
