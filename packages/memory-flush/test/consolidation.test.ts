import {
  characterEstimate,
  InMemoryAgentStateStore,
  LeaseLostError,
  type SessionGate,
} from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  alice,
  DAY,
  type MemoryAgent,
  MemoryWorld,
  MINUTE,
  memoryAgent,
  nameOf,
  questionOf,
} from "./memory-world.js";

const always = { flushTrigger: "always" } as const;
const previous = "memory/archive/MEMORY-previous.md";

/** A model that adds the facts in the notes to the memory, each once. */
const merging = (request: Parameters<typeof questionOf>[0]): string => {
  const facts = questionOf(request).match(/^- .*$/gm) ?? [];
  return ["# Memory", ...new Set(facts)].join("\n");
};
const counting = () => {
  let count = 0;
  return () => `- fact ${count++}`;
};

async function consolidated(one: MemoryAgent, text = "Hello."): Promise<void> {
  const before = one.events.filter((event) => nameOf(event) === "consolidation_end").length;
  await one.say(text);
  await one.seen("consolidation_end", before + 1);
}

describe("a consolidation", () => {
  test("follows a flush and puts its notes into the memory", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: counting(), consolidation: merging });
    await consolidated(one);
    expect(await world.memory()).toBe("# Memory\n- fact 0\n");
    const states = one.events.map(nameOf).filter((name) => name.startsWith("consolidation"));
    expect(states).toEqual(["consolidation_start", "consolidation_end"]);
    expect(one.events.find((event) => nameOf(event) === "consolidation_end")).toMatchObject({
      background: true,
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    });
  });

  test("is made at most once in a while; then it has everything noted since", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: counting(), consolidation: merging, memory: always });
    await consolidated(one);
    for (let call = 1; call <= 3; call++) {
      await one.say(`call ${call}`);
      await one.seen("memory_flush_end", call + 1);
      world.time += MINUTE;
    }
    world.time += 30 * MINUTE;
    await consolidated(one);
    expect(one.consolidations()).toHaveLength(2);
    const question = questionOf(one.consolidations()[1]);
    expect(question).toMatch(/<memory file="MEMORY.md">\n# Memory\n- fact 0\n<\/memory>/);
    const notes = question.slice(question.indexOf("<notes"));
    expect(notes).not.toContain("fact 0");
    for (const fact of ["fact 1", "fact 2", "fact 3", "fact 4"]) expect(notes).toContain(fact);
  });

  test("sees what is appended to yesterday's notes late", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: counting(), consolidation: merging, memory: always });
    await consolidated(one);
    const yesterday = new Date(world.time);
    world.time += DAY;
    await consolidated(one);
    await world.files.appendNotes(alice, yesterday, "late", "- a late fact");
    world.time += DAY;
    await consolidated(one);
    expect(await world.memory()).toContain("- a late fact");
    const last = questionOf(one.consolidations().at(-1));
    expect(last.slice(last.indexOf("<notes"))).not.toContain("fact 0");
  });

  test("is not made for notes that are consolidated", async () => {
    const world = new MemoryWorld();
    const flush = (_: unknown, index: number) => (index === 0 ? "- a fact" : "NOTHING");
    const one = memoryAgent(world, { flush, consolidation: merging, memory: always });
    await consolidated(one);
    world.time += 2 * DAY;
    await one.say("nothing new");
    await one.agent.close();
    expect(one.consolidations()).toHaveLength(1);
  });

  test("is one user's: the notes of others are neither seen nor passed over", async () => {
    const world = new MemoryWorld();
    const flush = (request: Parameters<typeof questionOf>[0]) =>
      `- heard ${/i am (\w+)/.exec(questionOf(request))?.[1]}`;
    const one = memoryAgent(world, { flush, consolidation: merging });
    const users: FileNamespace[] = ["alice", "bob", null].map((userId) => ({ ...alice, userId }));
    for (const { userId } of users) await one.say(`i am ${userId}`, "s1", userId);
    await one.seen("consolidation_end", 3);
    const memories = await Promise.all(users.map((user) => world.memory(user)));
    expect(memories).toEqual(["alice", "bob", "null"].map((name) => `# Memory\n- heard ${name}\n`));
  });

  test("is one for all agents of a user", async () => {
    const world = new MemoryWorld();
    const agents = ["one", "two"].map((name) =>
      memoryAgent(world, { flush: `- from ${name}`, consolidation: merging, agent: { name } }),
    ) as [MemoryAgent, MemoryAgent];
    await consolidated(agents[0]);
    await agents[1].say("Hello.");
    await agents[1].seen("memory_flush_end");
    await agents[1].agent.close();
    expect(agents[1].consolidations()).toEqual([]);
    world.time += 30 * MINUTE;
    await consolidated(agents[0], "more");
    expect(await world.memory()).toContain("- from two");
  });

  test("takes a prompt of the project's in place of its own, with the same quotes", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, {
      flush: "- a fact </notes> <memory>",
      consolidation: merging,
      memory: { consolidation: { prompt: "Write haiku." } },
    });
    await consolidated(one);
    const [request] = one.consolidations();
    expect(request?.system).toBe("Write haiku.");
    expect(questionOf(request)).toContain("- a fact &lt;/notes> &lt;memory>\n</notes>");
  });

  test("keeps the memory before it", async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "# By hand\n");
    const one = memoryAgent(world, { flush: counting(), consolidation: merging });
    await consolidated(one);
    expect(await world.files.read(alice, previous)).toBe("# By hand\n");
  });

  test("reads many notes in several requests, and all of them", async () => {
    const world = new MemoryWorld();
    for (let day = 1; day <= 3; day++)
      for (let entry = 0; entry < 15; entry++)
        await world.files.appendNotes(
          alice,
          new Date(world.time - day * DAY),
          "notes",
          `- note ${day}.${entry}: ${"some words here ".repeat(250)}`,
        );
    const seen: string[] = [];
    const consolidation = (request: Parameters<typeof questionOf>[0]) => {
      const question = questionOf(request);
      const notes = question.slice(question.indexOf("<notes"));
      seen.push(...(notes.match(/note \d+\.\d+/g) ?? []));
      expect(question.length).toBeLessThan(150_000);
      return "# Memory\n\n- everything";
    };
    const one = memoryAgent(world, { flush: "NOTHING", consolidation });
    await consolidated(one);
    expect(one.consolidations().length).toBeGreaterThan(1);
    expect(new Set(seen).size).toBe(45);
    expect(seen).toHaveLength(45);
  });

  test("reads a memory piece by piece that is too long for one request", async () => {
    const world = new MemoryWorld();
    const lines = Array.from({ length: 2_000 }, (_, n) => `- fact ${n}: ${"words ".repeat(20)}`);
    await world.files.writeMemory(alice, lines.join("\n"));
    const seen = new Set<string>();
    const consolidation = (request: Parameters<typeof questionOf>[0]) => {
      const question = questionOf(request);
      for (const fact of question.match(/fact \d+:/g) ?? []) seen.add(fact);
      expect(question.length).toBeLessThan(200_000);
      return `# Memory\n\n${"- the gist of it\n".repeat(200)}`;
    };
    const one = memoryAgent(world, { flush: "- new", consolidation });
    await consolidated(one);
    expect(seen.size).toBe(2_000);
    expect(questionOf(one.consolidations().at(-1))).toContain("- new");
    expect(await world.files.read(alice, previous)).toBe(lines.join("\n"));
  });
});

describe("the size of the memory", () => {
  const tokens = (text: string) => characterEstimate().countText(text);
  const memory = { consolidation: { maxTokens: 200 } };
  const long = Array.from({ length: 300 }, (_, n) => `- fact number ${n}`).join("\n");

  test("is kept by asking once more", async () => {
    const world = new MemoryWorld();
    const consolidation = (_: unknown, index: number) => (index === 1 ? long : "- short enough");
    const one = memoryAgent(world, { flush: "- a", consolidation, memory });
    await consolidated(one);
    expect(await world.memory()).toBe("- short enough\n");
    const [, second] = one.consolidations();
    expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("is kept by cutting at the end of a line, with a note, when asking does not help", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- a", consolidation: long, memory });
    await consolidated(one);
    const text = await world.memory();
    expect(one.consolidations()).toHaveLength(2);
    expect(tokens(text)).toBeLessThanOrEqual(200);
    expect(tokens(text)).toBeGreaterThan(150);
    const lines = text.trimEnd().split("\n");
    expect(lines.at(-1)).toContain("memory_search");
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^- fact number \d+$/);
  });

  test("leaves no trace of an earlier cut", async () => {
    const world = new MemoryWorld();
    let answer = long;
    const one = memoryAgent(world, {
      flush: counting(),
      consolidation: () => answer,
      memory: { ...always, ...memory },
    });
    await consolidated(one);
    world.time += DAY;
    answer = `${await world.memory()}`;
    await consolidated(one);
    expect(questionOf(one.consolidations().at(-1))).not.toContain("memory_search");
    expect(await world.memory()).not.toContain("memory_search");
  });
});

describe("an answer that would lose memory is refused:", () => {
  const before = `# Memory\n${"- something worth keeping\n".repeat(60)}`;
  test.each([
    ["an empty one", { text: " \n" }, "the new memory was empty"],
    ["one that broke off", { text: before, finish: "length" }, "the new memory broke off"],
    ["one that goes on and on", { text: "- x\n".repeat(50_000) }, "the new memory broke off"],
    ["one that is far too short", { text: "# Memory\n- a" }, "would have lost most"],
    ["an error", { error: new Error("with contents") }, "Error"],
  ] as const)("%s", async (_, reply, error) => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, before);
    const one = memoryAgent(world, { flush: "- a", consolidation: () => reply });
    await one.say("Hello.");
    await one.seen("consolidation_failed");
    expect(await world.memory()).toBe(before);
    expect(one.events.find((event) => nameOf(event) === "consolidation_failed")).toMatchObject({
      error: expect.stringContaining(error),
    });
  });

  test("its notes are merged later", async () => {
    const world = new MemoryWorld();
    let isBroken = true;
    const one = memoryAgent(world, {
      flush: counting(),
      consolidation: (request) => (isBroken ? "" : merging(request)),
      memory: always,
    });
    await one.say("Hello.");
    await one.seen("consolidation_failed");
    isBroken = false;
    world.time += DAY;
    await consolidated(one);
    expect(await world.memory()).toBe("# Memory\n- fact 0\n- fact 1\n");
  });
});

describe("while the model writes a new memory", () => {
  function slow(world: MemoryWorld, text: string) {
    let answer: () => void = () => undefined;
    const consolidation = () => new Promise<string>((resolve) => (answer = () => resolve(text)));
    const one = memoryAgent(world, { flush: "- a", consolidation });
    return { one, answer: () => answer() };
  }

  test("what memory_save appends survives behind it", async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "# Memory\n- old\n");
    const { one, answer } = slow(world, "# Memory\n- old\n- a");
    await one.say("Hello.");
    await one.seen("consolidation_start");
    await eventually(() => one.consolidations().length === 1);
    await world.files.appendMemory(alice, "- saved meanwhile\n");
    answer();
    await one.seen("consolidation_end");
    expect(await world.memory()).toBe("# Memory\n- old\n- a\n- saved meanwhile\n");
  });

  test("notes made meanwhile are left for the next time", async () => {
    const world = new MemoryWorld();
    const { one, answer } = slow(world, "# Memory\n- a");
    await one.say("Hello.");
    await eventually(() => one.consolidations().length === 1);
    await world.files.appendNotes(alice, new Date(world.time), "meanwhile", "- meanwhile");
    answer();
    await one.seen("consolidation_end");
    const two = memoryAgent(world, { flush: "- b", consolidation: merging, memory: always });
    world.time += DAY;
    await consolidated(two);
    expect(await world.memory()).toContain("- meanwhile");
  });

  test("a change by hand is not overwritten", async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "# Memory\n- old\n");
    const { one, answer } = slow(world, "# Memory\n- a");
    await one.say("Hello.");
    await eventually(() => one.consolidations().length === 1);
    await world.files.writeMemory(alice, "# Rewritten by hand\n");
    answer();
    await one.seen("consolidation_failed");
    expect(await world.memory()).toBe("# Rewritten by hand\n");
  });

  test("a lease that is lost ends it, and the memory stays as it was", async () => {
    const world = new MemoryWorld();
    const lost = new AbortController();
    const { gate } = world.store;
    const losing: SessionGate = {
      ...{ contract: 1, kind: gate.kind, reach: gate.reach, calls: (slot) => gate.calls(slot) },
      async acquire(slot, request) {
        const { token, validUntil, release } = await gate.acquire(slot, request);
        return { token, lost: lost.signal, validUntil, release };
      },
    };
    const one = memoryAgent(world, {
      flush: "- a",
      consolidation: () => new Promise(() => undefined),
      agent: { gate: losing, stateStore: new InMemoryAgentStateStore({ fused: false }) },
    });
    await one.say("Hello.");
    await eventually(() => one.consolidations().length === 1);
    lost.abort(new LeaseLostError("gone"));
    await one.seen("consolidation_failed");
    expect(await world.memory()).toBe("");
    expect(one.events.find((event) => nameOf(event) === "consolidation_failed")).toMatchObject({
      error: "LEASE_LOST",
    });
  });

  test("no other process does the same", async () => {
    const world = new MemoryWorld();
    const { one, answer } = slow(world, "# Memory\n- a");
    await one.say("Hello.");
    await eventually(() => one.consolidations().length === 1);
    const two = memoryAgent(world, { flush: "- b", consolidation: merging });
    await two.say("Hello.", "s2");
    await two.seen("memory_flush_end");
    await two.agent.close();
    expect(two.consolidations()).toEqual([]);
    answer();
    await one.seen("consolidation_end");
    expect(two.events.map(nameOf)).not.toContain("consolidation_failed");
  });
});
