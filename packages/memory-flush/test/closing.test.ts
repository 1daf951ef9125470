import { definePlugin, keepLastCompactor, type Message, textOf } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { expect, test } from "vitest";
import {
  alice,
  MemoryWorld,
  memoryAgent,
  nameOf,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

test("close waits for what is under way, the consolidation behind a flush included", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, {
    flush: { text: "- a fact", delayMs: 20 },
    consolidation: { text: "# Memory\n- a fact", delayMs: 20 },
  });
  await one.say("Hello.");
  await one.agent.close();
  expect(await world.facts()).toEqual(["- a fact"]);
  expect(await world.memory()).toBe("# Memory\n- a fact\n");
});

test("close does not wait for timers", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, { memory: { consolidation: noConsolidation } });
  await one.say("one");
  await one.seen("memory_flush_end");
  await one.say("two");
  await one.agent.close();
  expect(one.flushes()).toHaveLength(1);
});

test("close leaves a model that gives no answer, and the next process tries again", async () => {
  const world = new MemoryWorld();
  const consolidation = noConsolidation;
  const one = memoryAgent(world, {
    flush: () => new Promise(() => undefined),
    memory: { consolidation, timeoutMs: 50 },
  });
  await one.say("Hello.");
  await eventually(() => one.flushes().length === 1);
  await one.agent.close();
  expect(one.events.map(nameOf)).toContain("memory_flush_failed");
  world.time += 3_600_000;
  const two = memoryAgent(world, { flush: "- a fact", memory: { consolidation } });
  await two.say("Again.");
  await two.seen("memory_flush_end");
  expect(await world.facts(alice)).toEqual(["- a fact"]);
});

test("close has what was said during a flush flushed too, where no throttle forbids it", async () => {
  const world = new MemoryWorld();
  const answers: (() => void)[] = [];
  const flush = (_: unknown, index: number) =>
    new Promise<string>((resolve) => answers.push(() => resolve(`- fact ${index}`)));
  const one = memoryAgent(world, {
    flush,
    memory: { flushTrigger: "always", consolidation: noConsolidation },
  });
  await one.say("one");
  await eventually(() => answers.length === 1);
  await one.say("two");
  const closed = one.agent.close();
  answers[0]?.();
  await eventually(() => answers.length === 2);
  answers[1]?.();
  await closed;
  expect(await world.facts()).toEqual(["- fact 0", "- fact 1"]);
});

/** Models that note a new fact each time and remember them all, for an agent that finishes at its end. */
function finishing() {
  let facts = 0;
  return {
    flush: () => `- fact ${facts++}`,
    consolidation({ messages }: { messages: readonly Message[] }): string {
      const noted =
        messages
          .map(textOf)
          .join()
          .match(/- fact \d/g) ?? [];
      return `# Memory\n${noted.join("\n")}`;
    },
    memory: { finishOnClose: true },
  };
}

test("with finishOnClose, close flushes and consolidates what throttle and gap hold back", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, finishing());
  await one.say("one");
  await eventually(async () => (await world.memory()).includes("- fact 0"));
  await one.say("two");
  expect(one.flushes()).toHaveLength(1);
  await one.agent.close();
  expect(one.flushes()).toHaveLength(2);
  expect(await world.facts()).toEqual(["- fact 0", "- fact 1"]);
  expect(await world.memory()).toContain("- fact 1");
});

test("with finishOnClose, a process that knows nothing of the throttle finishes too", async () => {
  const world = new MemoryWorld();
  const models = finishing();
  for (const text of ["one", "two"]) {
    const each = memoryAgent(world, models);
    await each.say(text);
    await each.agent.close();
  }
  expect(await world.facts()).toEqual(["- fact 0", "- fact 1"]);
  expect(await world.memory()).toBe("# Memory\n- fact 0\n- fact 1\n");
});

test("with finishOnClose, a session with nothing new costs nothing", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, {
    flush: "NOTHING",
    memory: { finishOnClose: true, consolidation: noConsolidation },
  });
  await one.say("one");
  await one.seen("memory_flush_end");
  await one.agent.close();
  expect(one.flushes()).toHaveLength(1);
});

test("with finishOnClose, what was said while older messages left the context is flushed too", async () => {
  const world = new MemoryWorld();
  const answers: (() => void)[] = [];
  const compactor = definePlugin({
    name: "compactor",
    contract: 1,
    setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages: 1 })),
  });
  const one = memoryAgent(world, {
    flush: (_, index) =>
      new Promise<string>((resolve) => answers.push(() => resolve(`- fact ${index}`))),
    plugins: [compactor],
    memory: { finishOnClose: true, consolidation: noConsolidation },
  });
  await one.say("one");
  await eventually(() => answers.length === 1);
  answers[0]?.();
  await one.seen("memory_flush_end");
  await one.say("two");
  await one.agent.compact("alice", "s1", { force: true });
  await eventually(() => answers.length === 2);
  await one.say("three");
  const closed = one.agent.close();
  answers[1]?.();
  await eventually(() => answers.length === 3);
  answers[2]?.();
  await closed;
  expect(questionOf(one.flushes().at(-1))).toContain("\nthree\n");
});

test("closed at any moment, it leaves nothing at work that writes", async () => {
  for (let moment = 0; moment < 12; moment++) {
    const world = new MemoryWorld();
    let writes = 0;
    const { keyValue } = world.store;
    for (const [port, name] of [
      [world.filesystem, "append"],
      [world.filesystem, "write"],
      [keyValue, "put"],
    ] as const) {
      const original = Reflect.get(port, name) as (...args: unknown[]) => Promise<unknown>;
      const counting = async (...args: unknown[]): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        writes++;
        return original.apply(port, args);
      };
      Reflect.set(port, name, counting);
    }
    const one = memoryAgent(world, {
      flush: { text: "- a fact", delayMs: 2 },
      consolidation: { text: "# Memory\n- a fact", delayMs: 2 },
      memory: { flushTrigger: "always", timeoutMs: 1, finishOnClose: moment % 2 === 0 },
    });
    for (const session of ["s1", "s2", "s3", "s4", "s5", "s6"]) await one.say("Hello.", session);
    await new Promise((resolve) => setTimeout(resolve, moment));
    await one.agent.close();
    const before = writes;
    // Longer than anything here takes: what was still at work would have written by then.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(writes).toBe(before);
  }
});
