import { StoreUnavailableError, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { consolidate } from "../src/consolidation/consolidate.js";
import { MemoryFiles } from "../src/files/memory-files.js";
import { flushSlot } from "../src/flush/flush-slot.js";
import type { MemoryParts } from "../src/memory-parts.js";
import { crashingParts } from "./crashing-parts.js";
import { alice, MemoryWorld, questionOf } from "./memory-world.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 50;
const HOUR = 3_600_000;
const sessions = ["s1", "s2"];
const slotOf = (session: number) => ({ ...alice, sessionId: sessions[session] ?? "s1" });

/** What happens to the operations of all processes on what they share, one after the other. */
type Fate = "works" | "fails" | "works, but says it failed";

class Faults {
  readonly #fates: readonly Fate[];
  #next = 0;
  isOver = false;

  constructor(fates: readonly Fate[]) {
    this.#fates = fates;
  }

  /** `canLie`: whether an operation may have worked though it failed. A lease nobody knows of would only end with time. */
  around<T extends object>(port: T, canLie = true): T {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const fate = this.isOver ? "works" : this.#fates[this.#next++ % this.#fates.length];
          if (fate === "fails") throw new StoreUnavailableError("down");
          const result: unknown = await value.apply(target, args);
          if (fate === "works, but says it failed" && canLie)
            throw new StoreUnavailableError("down");
          return result;
        };
      },
    });
  }
}

/** Notes every fact it is shown, each time in other words; remembers every fact it is shown. */
const model = () =>
  scriptedModel((request, index) => {
    const question = questionOf(request);
    if (!question.startsWith("Today is"))
      return ["# Memory", ...new Set(question.match(/fact-\d+;/g)), "that is all"].join("\n- ");
    const said = question.slice(question.indexOf("<conversation"));
    return (
      said
        .match(/fact-\d+;/g)
        ?.map((fact) => `- ${fact} (${index})`)
        ?.join("\n") ?? "NOTHING"
    );
  });

/** A process: its clock may be off by a little. */
function processOf(world: MemoryWorld, faults: Faults, skewMs: number): MemoryParts {
  const { log, keyValue, gate } = world.store;
  return {
    ...crashingParts(world, model(), { flushTrigger: "always", consolidation: { minGapMs: HOUR } }),
    files: new MemoryFiles(faults.around(world.filesystem)),
    log: faults.around(log),
    keyValue: faults.around(keyValue),
    gate: faults.around(gate, false),
    now: () => new Date(world.time + skewMs),
  };
}

const work = fc.record({
  process: fc.nat({ max: 2 }),
  session: fc.nat({ max: 1 }),
  kind: fc.constantFrom("flush" as const, "forced flush" as const, "consolidate" as const),
});
const step = fc.oneof(
  fc.record({ say: fc.nat({ max: 1 }) }),
  fc.record({ save: fc.constant(true) }),
  fc.record({ pass: fc.constantFrom(1, 30_000, HOUR, 30 * HOUR) }),
  fc.record({ together: fc.array(work, { minLength: 1, maxLength: 4 }) }),
);
const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>("works") },
  { weight: 1, arbitrary: fc.constant<Fate>("fails") },
  { weight: 1, arbitrary: fc.constant<Fate>("works, but says it failed") },
);

test("whatever fails in whichever process, in the end every fact is noted once and in the memory once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 24 }),
      fc.array(fate, { minLength: 20, maxLength: 60 }),
      async (steps, fates) => {
        const world = new MemoryWorld();
        const faults = new Faults(fates);
        const processes = [0, 20_000, -20_000].map((skew) => processOf(world, faults, skew));
        let facts = 0;
        const say = async (session: number): Promise<void> => {
          const message = userMessage(`fact-${facts++};`);
          const at = new Date(world.time).toISOString();
          await world.store.log.append(slotOf(session), [
            { v: 1, id: message.id, callId: uuidv7(), at, kind: "message", message },
          ]);
        };
        const run = async (one: typeof work extends fc.Arbitrary<infer W> ? W : never) => {
          const parts = processes[one.process] ?? processOf(world, faults, 0);
          const order = {
            forced: one.kind === "forced flush",
            signal: new AbortController().signal,
          };
          const slot = slotOf(one.session);
          if (one.kind === "consolidate") await consolidate(parts, slot, order);
          else await flushSlot(parts, slot, order);
        };
        for (const one of steps) {
          if ("say" in one) await say(one.say);
          else if ("pass" in one) world.time += one.pass;
          else if ("together" in one) await Promise.all(one.together.map(run));
          else {
            const lines = `- fact-${facts++}; (saved)\n`;
            await world.files.appendNotes(alice, new Date(world.time), "saved", lines);
            await world.files.appendMemory(alice, lines);
          }
        }
        faults.isOver = true;
        for (const process of [0, 1, 2]) {
          world.time += 24 * HOUR;
          for (const session of [0, 1]) await run({ process, session, kind: "flush" });
          await run({ process, session: 0, kind: "consolidate" });
        }
        const days = await world.files.days(alice);
        const notes = (
          await Promise.all(days.map(({ path }) => world.files.read(alice, path)))
        ).join();
        const memory = await world.memory();
        for (let fact = 0; fact < facts; fact++) {
          expect(notes.split(`- fact-${fact}; `)).toHaveLength(2);
          expect(memory.split(`fact-${fact};`)).toHaveLength(2);
        }
      },
    ),
    { numRuns: runs },
  );
});
