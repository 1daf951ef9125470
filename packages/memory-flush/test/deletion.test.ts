import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { alice, MemoryWorld, MINUTE, memoryAgent, nameOf, questionOf } from "./memory-world.js";

const always = { flushTrigger: "always" } as const;
const keys = async (world: MemoryWorld, kind: "slots" | "users") =>
  (await world.store.keyValue.list(["memory-flush", kind])).keys;

/** An agent whose memory model answers when it is told to. */
function waiting(world: MemoryWorld, kind: "flush" | "consolidation") {
  const answers: ((text: string) => void)[] = [];
  const reply = () => new Promise<string>((resolve) => answers.push(resolve));
  const replies = kind === "flush" ? { flush: reply } : { flush: "- a", consolidation: reply };
  return { one: memoryAgent(world, { ...replies, memory: always }), answers };
}

describe("a session that is deleted", () => {
  test("leaves nothing of its own behind; what was noted stays with the user", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- a fact", memory: always });
    await one.say("Hello.");
    await one.seen("consolidation_end");
    expect(await keys(world, "slots")).toHaveLength(1);
    await one.agent.deleteSession("alice", "s1");
    expect(await keys(world, "slots")).toEqual([]);
    expect(await world.log()).toEqual([]);
    expect(await world.facts()).toEqual(["- a fact"]);
  });

  test("is not flushed any more, also when a flush is under way", async () => {
    const world = new MemoryWorld();
    const { one, answers } = waiting(world, "flush");
    await one.say("Hello.");
    await eventually(() => answers.length === 1);
    await one.agent.deleteSession("alice", "s1");
    answers[0]?.("- too late");
    await one.agent.close();
    expect(await world.notes()).toBe("");
    expect(await world.log()).toEqual([]);
    expect(await keys(world, "slots")).toEqual([]);
  });

  test("is not brought back by the flush of another process", async () => {
    const world = new MemoryWorld();
    const { one: other, answers } = waiting(world, "flush");
    await other.say("Hello.");
    await eventually(() => answers.length === 1);
    const one = memoryAgent(world, { memory: always });
    await one.agent.deleteSession("alice", "s1");
    answers[0]?.("- too late");
    await other.agent.close();
    expect(await world.notes()).toBe("");
    expect(await world.log()).toEqual([]);
    expect(await keys(world, "slots")).toEqual([]);
  });

  test("and had no user takes its memory with it", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- a fact", memory: always });
    await one.say("Hello.", "s1", null);
    await one.seen("consolidation_end");
    const nobody = { ...alice, userId: null };
    expect(await world.facts(nobody)).toEqual(["- a fact"]);
    await one.agent.deleteSession(null, "s1");
    expect(await world.filesystem.list(nobody)).toEqual([]);
    expect(await keys(world, "users")).toEqual([]);
  });

  test("and begun anew under its name is flushed from its beginning", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory: always });
    for (let call = 0; call < 5; call++) await one.say("before");
    await one.agent.deleteSession("alice", "s1");
    const before = one.flushes().length;
    await one.say("after");
    await eventually(() => one.flushes().length > before);
    expect(questionOf(one.flushes().at(-1))).toContain("after");
  });
});

describe("a user who is deleted", () => {
  test("leaves no memory and no watermark behind, and others keep theirs", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: "- a fact", memory: always });
    await one.say("Hello.", "s1", "alice");
    await one.say("Hello.", "s1", "bob");
    await one.seen("consolidation_end", 2);
    await one.agent.deleteUser("alice");
    expect(await world.filesystem.list(alice)).toEqual([]);
    expect(await keys(world, "slots")).toHaveLength(1);
    expect(await keys(world, "users")).toHaveLength(1);
    expect(await world.facts({ ...alice, userId: "bob" })).toEqual(["- a fact"]);
  });

  test.each(["this", "another"])(
    "does not come back by a consolidation that is under way in %s process",
    async (where) => {
      const world = new MemoryWorld();
      const { one, answers } = waiting(world, "consolidation");
      await one.say("Hello.");
      await eventually(() => answers.length === 1);
      const deleting = where === "this" ? one : memoryAgent(world, { memory: always });
      await deleting.agent.deleteUser("alice");
      answers[0]?.("# Back again");
      await one.agent.close();
      expect(one.events.map(nameOf)).not.toContain("consolidation_end");
      expect(await world.filesystem.list(alice)).toEqual([]);
      expect(await keys(world, "users")).toEqual([]);
    },
  );

  test("is remembered anew when they come back", async () => {
    const world = new MemoryWorld();
    const consolidation = (request: Parameters<typeof questionOf>[0]) =>
      ["# Memory", ...(questionOf(request).match(/^- .*$/gm) ?? [])].join("\n");
    const flush = (_: unknown, index: number) => `- fact ${index}`;
    const one = memoryAgent(world, { flush, consolidation, memory: always });
    await one.say("Hello.");
    await one.seen("consolidation_end");
    await one.agent.deleteUser("alice");
    world.time += MINUTE;
    await one.say("Hello again.");
    await one.seen("consolidation_end", 2);
    expect(await world.memory()).toBe("# Memory\n- fact 2\n");
  });
});
