import { ModelError } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { flushSlot } from "../src/flush/flush-slot.js";
import { crashingParts } from "./crashing-parts.js";
import {
  alice,
  MemoryWorld,
  MINUTE,
  memoryAgent,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

const consolidation = noConsolidation;

/** Sessions that a process without the plugin's help left unflushed, as one that was killed would. */
async function leaveBehind(
  world: MemoryWorld,
  sessions: readonly string[],
  userId: string | null = "alice",
): Promise<void> {
  const dead = memoryAgent(world, { memory: { flushTrigger: "never", consolidation } });
  for (const session of sessions) await dead.say(`left in ${session}`, session, userId);
  await dead.agent.close();
}

const sessionsOf = (questions: readonly string[]) =>
  questions.map((question) => /<conversation session="(\w+)">/.exec(question)?.[1]);

describe("what a process that died could not flush", () => {
  test("is flushed when its user is next seen", async () => {
    const world = new MemoryWorld();
    await leaveBehind(world, ["s1", "s2"]);
    world.time += 60 * MINUTE;
    const one = memoryAgent(world, { memory: { consolidation } });
    await one.say("Hello.", "s3");
    await one.seen("memory_flush_end", 3);
    expect(sessionsOf(one.flushes().map(questionOf)).sort()).toEqual(["s1", "s2", "s3"]);
  });

  test("is flushed of five sessions at a time, the last ones first, and of nobody else's", async () => {
    const world = new MemoryWorld();
    await leaveBehind(world, ["s1", "s2", "s3", "s4", "s5", "s6", "s7"]);
    await leaveBehind(world, ["s8"], "bob");
    await leaveBehind(world, ["s9"], null);
    world.time += 60 * MINUTE;
    const one = memoryAgent(world, { memory: { consolidation } });
    await one.say("Hello.", "now");
    await one.seen("memory_flush_end", 6);
    const flushed = () => sessionsOf(one.flushes().map(questionOf)).sort();
    expect(flushed()).toEqual(["now", "s3", "s4", "s5", "s6", "s7"]);
    world.time += 11 * MINUTE;
    await one.say("Hello again.", "now");
    await one.seen("memory_flush_end", 9);
    await one.agent.close();
    expect(flushed()).toEqual(["now", "now", "s1", "s2", "s3", "s4", "s5", "s6", "s7"]);
  });

  test("is looked for at most once per throttle window", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory: { consolidation } });
    await one.say("Hello.", "now");
    await one.seen("memory_flush_end");
    await leaveBehind(world, ["s1"]);
    world.time += 5 * MINUTE;
    await one.say("Hello.", "other");
    await one.seen("memory_flush_end", 2);
    expect(sessionsOf(one.flushes().map(questionOf))).toEqual(["now", "other"]);
    world.time += 6 * MINUTE;
    await one.say("Hello.", "now");
    await eventually(() => sessionsOf(one.flushes().map(questionOf)).includes("s1"));
  });

  test("is flushed although the dead process tried and failed, again and again", async () => {
    const world = new MemoryWorld();
    await leaveBehind(world, ["s1"]);
    const down = scriptedModel(() => ({ error: new ModelError("down") }));
    const { signal } = new AbortController();
    for (let attempt = 0; attempt < 4; attempt++) {
      const parts = crashingParts(world, down, { consolidation });
      await flushSlot(parts, { ...alice, sessionId: "s1" }, { forced: false, signal });
      world.time += 30 * MINUTE;
    }
    expect(down.requests).toHaveLength(4);
    world.time += 120 * MINUTE;
    const one = memoryAgent(world, { memory: { consolidation } });
    await one.say("Hello.", "now");
    await one.seen("memory_flush_end", 2);
    expect(sessionsOf(one.flushes().map(questionOf)).sort()).toEqual(["now", "s1"]);
  });

  test("is not asked for again once it was looked at", async () => {
    const world = new MemoryWorld();
    await leaveBehind(world, ["s1"]);
    const one = memoryAgent(world, { memory: { consolidation } });
    for (let window = 1; window <= 4; window++) {
      world.time += 11 * MINUTE;
      await one.say("Hello.", "now");
      await eventually(
        () =>
          sessionsOf(one.flushes().map(questionOf)).filter((s) => s === "now").length === window,
      );
      await one.seen("memory_flush_end", window + 1);
    }
    await one.agent.close();
    expect(sessionsOf(one.flushes().map(questionOf)).filter((s) => s === "s1")).toHaveLength(1);
  });
});
