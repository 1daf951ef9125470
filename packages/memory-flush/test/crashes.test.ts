import { userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { consolidate } from "../src/consolidation/consolidate.js";
import { flushSlot } from "../src/flush/flush-slot.js";
import { crashingParts, type Death } from "./crashing-parts.js";
import { alice, MemoryWorld, questionOf } from "./memory-world.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 3_000 : 50;
const HOUR = 3_600_000;
const options = { flushTrigger: "always" } as const;

/** Notes every fact it is shown, each time in other words; remembers every fact it is shown. */
function honestModel(fails: () => boolean = () => false) {
  return scriptedModel((request, index) => {
    if (fails()) throw new Error("the model is down");
    const question = questionOf(request);
    if (!question.startsWith("Today is"))
      return ["# Memory", ...new Set(question.match(/fact-\d+;/g))].join("\n- ");
    const said = question.slice(question.indexOf("<conversation"));
    const facts = said.match(/fact-\d+;/g)?.map((fact) => `- ${fact} (${index})`);
    return facts?.join("\n") ?? "NOTHING";
  });
}

async function say(world: MemoryWorld, fact: number): Promise<void> {
  const message = userMessage(`fact-${fact};`);
  const at = new Date(world.time).toISOString();
  await world.store.log.append(alice, [
    { v: 1, id: message.id, callId: uuidv7(), at, kind: "message", message },
  ]);
}

const forced = () => ({ forced: true, signal: new AbortController().signal });

/** The next process finishes what a dead one left. */
async function settle(world: MemoryWorld): Promise<void> {
  for (let round = 0; round < 2; round++) {
    world.time += 24 * HOUR;
    const parts = crashingParts(world, honestModel(), options);
    await flushSlot(parts, alice, forced());
    await consolidate(parts, alice, {
      forced: false,
      signal: new AbortController().signal,
    });
  }
}

async function allNotes(world: MemoryWorld): Promise<string> {
  const files = await world.files.notes(alice);
  const texts = await Promise.all(files.map(({ path }) => world.files.read(alice, path)));
  return texts.filter((_, index) => !files[index]?.path.includes("previous")).join("\n");
}

const death = fc.option(fc.record({ operation: fc.nat({ max: 14 }), isAfter: fc.boolean() }), {
  freq: 3,
});
const step = fc.oneof(
  fc.record({ kind: fc.constant("say" as const) }),
  fc.record({ kind: fc.constant("save" as const) }),
  fc.record({ kind: fc.constant("flush" as const), death, isDown: fc.boolean() }),
  fc.record({ kind: fc.constant("consolidate" as const), death, isDown: fc.boolean() }),
);

test("whenever processes die or models fail, every fact is noted once and reaches the memory", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      const world = new MemoryWorld();
      let facts = 0;
      for (const one of steps) {
        world.time += HOUR;
        if (one.kind === "say") await say(world, facts++);
        else if (one.kind === "save") {
          const lines = `- fact-${facts++}; (saved)\n`;
          await world.files.appendNotes(alice, new Date(world.time), "saved", lines);
          await world.files.appendMemory(alice, lines);
        } else {
          const model = honestModel(() => one.isDown);
          const parts = crashingParts(world, model, options, one.death);
          if (one.kind === "flush") await flushSlot(parts, alice, forced());
          else
            await consolidate(parts, alice, {
              forced: false,
              signal: new AbortController().signal,
            });
        }
      }
      await settle(world);
      const [notes, memory] = [await allNotes(world), await world.memory()];
      for (let fact = 0; fact < facts; fact++) {
        expect(notes.split(`- fact-${fact}; `)).toHaveLength(2);
        expect(memory.split(`fact-${fact};`)).toHaveLength(2);
      }
    }),
    { numRuns: runs },
  );
});

test("a flush may die at any of its steps", async () => {
  const whole = new MemoryWorld();
  await say(whole, 0);
  const parts = crashingParts(whole, honestModel(), options);
  await flushSlot(parts, alice, forced());
  const steps = parts.operations();
  expect(steps).toBeGreaterThan(6);
  for (const death of deaths(steps)) {
    const world = new MemoryWorld();
    await say(world, 0);
    await flushSlot(crashingParts(world, honestModel(), options, death), alice, forced());
    await settle(world);
    expect((await allNotes(world)).split("- fact-0; "), JSON.stringify(death)).toHaveLength(2);
    expect(await world.memory()).toContain("fact-0;");
  }
});

test("a consolidation may die at any of its steps, and a save made meanwhile survives", async () => {
  const begin = async () => {
    const world = new MemoryWorld();
    await world.files.writeMemory(alice, "# Memory\n- fact-0;\n");
    await world.files.appendNotes(alice, new Date(world.time), "notes", "- fact-1; (noted)");
    return world;
  };
  const run = async (world: MemoryWorld, death: Death | null) => {
    const model = honestModel();
    const stream = model.stream.bind(model);
    let isSaved = false;
    model.stream = async function* (request) {
      await world.files.appendMemory(alice, "- fact-2; saved meanwhile\n");
      isSaved = true;
      yield* stream(request);
    };
    const parts = crashingParts(world, model, options, death);
    await consolidate(parts, alice, {
      forced: false,
      signal: new AbortController().signal,
    });
    return { steps: parts.operations(), isSaved };
  };
  const { steps } = await run(await begin(), null);
  expect(steps).toBeGreaterThan(8);
  for (const death of deaths(steps)) {
    const world = await begin();
    const { isSaved } = await run(world, death);
    const torn = await world.memory();
    expect(torn, JSON.stringify(death)).toContain("fact-0;");
    expect(torn.startsWith("# Memory\n"), JSON.stringify(death)).toBe(true);
    await settle(world);
    const memory = await world.memory();
    for (const fact of isSaved ? [0, 1, 2] : [0, 1])
      expect(memory.split(`fact-${fact};`), JSON.stringify(death)).toHaveLength(2);
  }
});

function deaths(steps: number): Death[] {
  return Array.from({ length: steps }, (_, operation) =>
    [true, false].map((isAfter) => ({ operation, isAfter })),
  ).flat();
}
