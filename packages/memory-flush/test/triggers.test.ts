import { definePlugin, keepLastCompactor, type Plugin } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type MemoryAgent,
  MemoryWorld,
  MINUTE,
  memoryAgent,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

const consolidation = noConsolidation;
/** Of each of two processes in each of four windows. */
const calls = process.env["HOLDFAST_LONG"] === "1" ? 125 : 25;

afterEach(() => {
  vi.useRealTimers();
});

/** Nothing is under way any more and nothing was: what has not been asked for by now will not be. */
async function quiet({ agent }: MemoryAgent): Promise<void> {
  await agent.close();
}

describe("after calls", () => {
  test("there is one flush per throttle window, however many calls are made", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory: { consolidation } });
    for (let window = 0; window < 3; window++) {
      for (let call = 0; call < 20; call++) {
        await one.say(`window ${window} call ${call}`);
        world.time += 1_000;
      }
      await one.seen("memory_flush_end", window + 1);
      world.time += 10 * MINUTE;
    }
    await quiet(one);
    expect(one.flushes()).toHaveLength(3);
  });

  test(`two processes with ${8 * calls} calls make one flush per window between them, and miss nothing`, async () => {
    const world = new MemoryWorld();
    const [one, other] = [1, 2].map(() => memoryAgent(world, { memory: { consolidation } })) as [
      MemoryAgent,
      MemoryAgent,
    ];
    const asked = () => [...one.flushes(), ...other.flushes()].map(questionOf);
    for (let window = 1; window <= 4; window++) {
      await Promise.all(
        [one, other].map(async (agent, who) => {
          for (let call = 0; call < calls; call++) await agent.say(`w${window}-${who}-${call}.`);
        }),
      );
      await eventually(() => asked().length === window);
      world.time += 10 * MINUTE + 1;
    }
    // The last window's flush may have begun before its last calls ended; one more sees the rest.
    await one.say("the end");
    await eventually(() => asked().join().includes("the end"));
    await Promise.all([quiet(one), quiet(other)]);
    expect(asked()).toHaveLength(5);
    for (let window = 1; window <= 4; window++)
      for (const who of [0, 1])
        for (let call = 0; call < calls; call++)
          expect(
            asked().filter((text) => text.includes(`\nw${window}-${who}-${call}.`)),
          ).toHaveLength(1);
  });

  test("a process that did not make the window's flush makes none either", async () => {
    const world = new MemoryWorld();
    const [one, other] = [1, 2].map(() => memoryAgent(world, { memory: { consolidation } })) as [
      MemoryAgent,
      MemoryAgent,
    ];
    await one.say("first");
    await one.seen("memory_flush_end");
    world.time += 9 * MINUTE;
    await other.say("second");
    await quiet(other);
    expect(other.flushes()).toEqual([]);
    const third = memoryAgent(world, { memory: { consolidation } });
    world.time += MINUTE;
    await third.say("third");
    await third.seen("memory_flush_end");
    expect(questionOf(third.flushes()[0])).toMatch(/second[\s\S]*third/);
  });

  test("what was said within a window is flushed when it ends, without another call", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const world = new MemoryWorld();
    const one = memoryAgent(world, {
      memory: { consolidation },
      agent: { clock: () => new Date() },
    });
    await one.say("first");
    await vi.waitFor(() => expect(one.flushes()).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(MINUTE);
    await one.say("second");
    await vi.advanceTimersByTimeAsync(8 * MINUTE);
    expect(one.flushes()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    await vi.waitFor(() => expect(one.flushes()).toHaveLength(2));
    expect(questionOf(one.flushes()[1])).toContain("second");
  });

  test('with "always" every call is flushed', async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory: { flushTrigger: "always", consolidation } });
    for (const text of ["a", "b", "c"]) {
      await one.say(text);
      await one.seen("memory_flush_end", "abc".indexOf(text) + 1);
    }
    expect(one.flushes()).toHaveLength(3);
  });

  test('with "always" calls that end during a flush are flushed together after it', async () => {
    const world = new MemoryWorld();
    const answers: ((text: string) => void)[] = [];
    const flush = () => new Promise<string>((resolve) => answers.push(resolve));
    const one = memoryAgent(world, { flush, memory: { flushTrigger: "always", consolidation } });
    await one.say("first");
    await eventually(() => answers.length === 1);
    await one.say("second");
    await one.say("third");
    answers[0]?.("NOTHING");
    await eventually(() => answers.length === 2);
    answers[1]?.("NOTHING");
    await quiet(one);
    expect(one.flushes()).toHaveLength(2);
    expect(questionOf(one.flushes()[1])).toMatch(/second[\s\S]*third/);
  });

  test('with "never" no call is flushed', async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, { memory: { flushTrigger: "never", consolidation } });
    await one.say("Hello.");
    await quiet(one);
    expect(one.flushes()).toEqual([]);
  });
});

describe("before messages leave the context", () => {
  const compactor: Plugin = definePlugin({
    name: "compactor",
    contract: 1,
    setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages: 1 })),
  });

  function compacting(world: MemoryWorld, flushTrigger: "never" | { throttleMs: number }) {
    return memoryAgent(world, { memory: { flushTrigger, consolidation }, plugins: [compactor] });
  }

  test('they are flushed, also with "never"', async () => {
    const world = new MemoryWorld();
    const one = compacting(world, "never");
    for (const text of ["one", "two", "three"]) await one.say(text);
    expect(one.flushes()).toEqual([]);
    await one.agent.compact("alice", "s1", { force: true });
    await one.seen("memory_flush_end");
    expect(one.flushes()).toHaveLength(1);
    expect(questionOf(one.flushes()[0])).toMatch(/one[\s\S]*two[\s\S]*three/);
  });

  test("they are flushed within the throttle window too", async () => {
    const world = new MemoryWorld();
    const one = compacting(world, { throttleMs: 10 * MINUTE });
    await one.say("one");
    await one.seen("memory_flush_end");
    await one.say("two");
    await one.agent.compact("alice", "s1", { force: true });
    await one.seen("memory_flush_end", 2);
    expect(questionOf(one.flushes()[1])).toContain("\ntwo\n");
    expect(questionOf(one.flushes()[1])).not.toContain("\none\n");
  });

  test("the compaction does not wait for the model", async () => {
    const world = new MemoryWorld();
    const one = memoryAgent(world, {
      flush: () => new Promise(() => undefined),
      memory: { flushTrigger: "never", consolidation, timeoutMs: 300 },
      plugins: [compactor],
    });
    for (const text of ["one", "two", "three"]) await one.say(text);
    await one.agent.compact("alice", "s1", { force: true });
    expect((await one.agent.getAgentState("alice", "s1"))?.context.length).toBeLessThan(6);
    await one.seen("memory_flush_failed");
  });
});
