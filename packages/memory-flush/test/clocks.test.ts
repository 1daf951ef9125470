import { describe, expect, test } from "vitest";
import { alice, DAY, MemoryWorld, MINUTE, memoryAgent, questionOf } from "./memory-world.js";

const YEARS = 10 * 365 * DAY;
const always = { flushTrigger: "always" } as const;
const facts = () => {
  let count = 0;
  return () => `- fact ${count++}`;
};

describe("a clock that was years ahead and is put right", () => {
  test("keeps the same process neither from flushing nor from consolidating", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: facts(), consolidation: "# Memory\n- something" });
    world.time += YEARS;
    await one.say("one");
    await one.seen("consolidation_end");
    world.time -= YEARS;
    await one.say("two");
    await one.seen("memory_flush_end", 2);
    await one.seen("consolidation_end", 2);
    expect(questionOf(one.consolidations().at(-1))).toContain("- fact 1");
  });

  test("keeps no other process from consolidating, nor from tidying up", async () => {
    const world = new MemoryWorld();
    const consolidation = "# Memory\n- something";
    const day = world.today;
    world.time += YEARS;
    const ahead = memoryAgent(world, { flush: facts(), consolidation, memory: always });
    await ahead.say("one");
    await ahead.agent.close();
    world.time -= YEARS;
    const right = memoryAgent(world, { flush: facts(), consolidation, memory: always });
    await right.say("two");
    await right.seen("consolidation_end");
    await right.agent.close();
    world.time += 100 * DAY;
    const later = memoryAgent(world, { flush: facts(), consolidation, memory: always });
    await later.say("three");
    await later.agent.close();
    expect(await world.files.read(alice, `memory/archive/${day}.md`)).toContain("- fact 0");
  });

  test("does not hide the sessions that were left behind meanwhile", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { flush: facts() });
    world.time += YEARS;
    await one.say("one", "s1");
    await one.agent.close();
    world.time -= YEARS;
    const dead = memoryAgent(world, { memory: { flushTrigger: "never" } });
    await dead.say("left behind", "s1");
    await dead.agent.close();
    world.time += 60 * MINUTE;
    const two = memoryAgent(world, { flush: facts() });
    await two.say("two", "s2");
    await two.seen("memory_flush_end", 2);
    expect(two.flushes().map(questionOf).join()).toContain("left behind");
  });
});

test("a clock that is years ahead for a day deletes no log", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, {
    flush: facts(),
    consolidation: "# Memory\n- something",
    memory: { ...always, sessionRetentionDays: 30 },
  });
  const sessions = async () => {
    const page = await world.store.log.sessions({ agentId: "agent", userId: "alice" });
    return page.sessions.map(({ slot }) => slot.sessionId).sort();
  };
  let count = 0;
  const day = async (time: number, session: string) => {
    world.time = time;
    await one.say("Hello.", session);
    await one.seen("consolidation_end", ++count);
  };
  const start = world.time;
  await day(start, "s0");
  await day(start + 20 * DAY, "s20");
  await day(start + 21 * DAY + YEARS, "ahead");
  await day(start + 22 * DAY, "s22");
  expect(await sessions()).toEqual(["ahead", "s0", "s20", "s22"]);
  await day(start + 31 * DAY, "s31");
  await day(start + 32 * DAY, "s32");
  expect(await sessions()).toEqual(["ahead", "s20", "s22", "s31", "s32"]);
});
