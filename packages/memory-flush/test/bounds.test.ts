import { ContextOverflowError, characterEstimate, ModelError } from "@holdfast/core";
import { type RecordedRequest, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { consolidate } from "../src/consolidation/consolidate.js";
import { flushSlot } from "../src/flush/flush-slot.js";
import { crashingParts } from "./crashing-parts.js";
import {
  alice,
  DAY,
  MemoryWorld,
  memoryAgent,
  noConsolidation,
  questionOf,
} from "./memory-world.js";

const counter = characterEstimate();
const order = (forced = false) => ({ forced, signal: new AbortController().signal });
const tokensOf = (request: Pick<RecordedRequest, "system" | "messages">): number =>
  counter.countText(request.system) +
  counter.countText(request.messages.map((message) => JSON.stringify(message.content)).join("\n"));

describe("a consolidation", () => {
  test("shows a line of notes that is longer than a request in part, and is done with it", async () => {
    const world = new MemoryWorld();
    const line = `- ${"a very long line ".repeat(60_000)}the end\n`;
    await world.filesystem.append(alice, "memory/2025-03-09.md", new TextEncoder().encode(line));
    const one = memoryAgent(world, { flush: "- new", consolidation: "# Memory\n- new" });
    await one.say("Hello.");
    await one.seen("consolidation_end");
    for (const request of one.consolidations()) expect(tokensOf(request)).toBeLessThan(40_000);
    expect(one.consolidations().map(questionOf).join()).toContain("- new");
  });

  test("of a memory of a megabyte makes 16 requests at most, gets on each time and loses nothing", async () => {
    const world = new MemoryWorld();
    const facts = 1_200;
    const lines = Array.from({ length: facts }, (_, n) => `- fact-${n}; ${"x".repeat(800)}\n`);
    await world.files.writeMemory(alice, lines.join(""));
    await world.files.appendNotes(alice, new Date(world.time), "notes", "- fact-new;");
    const seen = new Set<string>();
    const model = scriptedModel((request) => {
      expect(questionOf(request).length).toBeLessThan(240_000);
      for (const fact of questionOf(request).match(/fact-\w+;/g) ?? []) seen.add(fact);
      return `# Memory\n${"- the gist of it\n".repeat(300)}`;
    });
    const parts = crashingParts(world, model, {});
    for (let round = 0; round < 10 && !seen.has("fact-new;"); round++) {
      const before = model.requests.length;
      const { again } = await consolidate(parts, alice, order());
      expect(model.requests.length - before).toBeGreaterThan(0);
      expect(model.requests.length - before).toBeLessThanOrEqual(16);
      expect(again).toBe(!seen.has("fact-new;"));
      world.time += DAY;
    }
    expect(seen.size).toBe(facts + 1);
    expect(counter.countText(await world.memory())).toBeLessThanOrEqual(4_000);
  });

  test("by a model with a small window never asks for more than it takes", async () => {
    const world = new MemoryWorld();
    const window = 8_000;
    const model = Object.assign(
      scriptedModel((request) => {
        if (tokensOf(request) > window * 0.8) throw new ContextOverflowError("too long");
        return `# Memory\n${"- the gist of everything, at some length\n".repeat(400)}`;
      }),
      { contextWindow: window },
    );
    const parts = crashingParts(world, model, {});
    for (let day = 0; day < 4; day++) {
      const text = Array.from({ length: 200 }, (_, n) => `- fact ${day}.${n} of the day`).join(
        "\n",
      );
      await world.files.appendNotes(alice, new Date(world.time), "notes", text);
      world.time += DAY;
      expect(await consolidate(parts, alice, order())).toMatchObject({ again: false });
    }
    const { value } = (await world.store.keyValue.get(
      ["memory-flush", "users"],
      (await world.store.keyValue.list(["memory-flush", "users"])).keys[0] ?? "",
    )) ?? { value: null };
    expect(value).toMatchObject({ failures: 0 });
    expect(await world.memory()).toContain("- the gist");
  });

  test("that is not due yet comes when it is, also by an agent that has to tidy up first", async () => {
    const world = new MemoryWorld();
    const model = scriptedModel(() => "# Memory\n- something");
    const note = () => world.files.appendNotes(alice, new Date(world.time), "notes", "- a");
    await note();
    await consolidate(crashingParts(world, model), alice, order());
    await note();
    const other = { ...crashingParts(world, model), agentId: "other" };
    const { again, notBefore } = await consolidate(other, alice, order());
    expect({ again, notBefore }).toEqual({ again: true, notBefore: world.time + 1_800_000 });
  });
});

test("a message that is too long for the model by itself is shown in part, and the flush goes on", async () => {
  const world = new MemoryWorld();
  const one = memoryAgent(world, {
    flush: (request) => {
      const question = questionOf(request);
      if (question.length > 3_000) throw new ContextOverflowError("too long");
      return question.includes("</conversation>") ? "- a fact" : "NOTHING";
    },
    memory: { consolidation: noConsolidation, flushTrigger: "always" },
  });
  await one.say(`Begin ${"and so on ".repeat(590)} end.`);
  await one.seen("memory_flush_end");
  expect(await world.facts()).toEqual(["- a fact"]);
  const last = questionOf(one.flushes().at(-1));
  expect(last.match(/<\/?message/g)).toHaveLength(2);
});

test("what the provider refuses to read is passed over, and no more than that", async () => {
  const world = new MemoryWorld();
  const flush = (request: RecordedRequest) => {
    const question = questionOf(request);
    if (question.includes("unspeakable")) throw new ModelError("refused", { kind: "content" });
    return [...question.matchAll(/fact \d+/g)].map(([fact]) => `- ${fact}`).join("\n") || "NOTHING";
  };
  const memory = { consolidation: noConsolidation, flushTrigger: "never" } as const;
  const one = memoryAgent(world, { flush, memory });
  for (let index = 0; index < 12; index++)
    await one.say(index === 5 ? "the unspeakable" : `fact ${index}`);
  const two = memoryAgent(world, { flush, memory: { ...memory, flushTrigger: "always" } });
  for (let left = 3; left > 0 && (await world.facts()).length < 11; left--) {
    await two.say("and now?");
    await two.seen("memory_flush_end");
  }
  const known = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11].map((index) => `- fact ${index}`);
  expect(await world.facts()).toEqual(known);
});

test("a note whose writer died is not doubled though its day was archived since", async () => {
  const world = new MemoryWorld();
  const model = scriptedModel((_, index) => `- fact ${index}`);
  const talker = memoryAgent(world, { memory: { flushTrigger: "never" } });
  await talker.say("Hello.");
  let isDead = false;
  const parts = crashingParts(world, model, { flushTrigger: "always" });
  const { files } = parts;
  const appendNotes = files.appendNotes.bind(files);
  files.appendNotes = async (...args) => {
    await appendNotes(...args);
    isDead = true;
    throw new Error("died");
  };
  const put = parts.keyValue.put.bind(parts.keyValue);
  const keyValue = new Proxy(parts.keyValue, {
    get: (target, name) =>
      name === "put"
        ? (...args: Parameters<typeof put>) => (isDead ? Promise.reject(new Error()) : put(...args))
        : Reflect.get(target, name).bind(target),
  });
  await flushSlot({ ...parts, keyValue }, alice, order(true));
  const [day] = await world.files.days(alice);
  await world.files.archive(alice, day?.path ?? "");
  world.time += 100 * DAY;
  await flushSlot(crashingParts(world, model, { flushTrigger: "always" }), alice, order(true));
  expect(await world.files.days(alice)).toEqual([]);
  expect(await world.files.read(alice, "memory/archive/2025-03-10.md")).toContain("- fact 0");
});
