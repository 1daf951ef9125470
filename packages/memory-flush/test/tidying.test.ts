import { describe, expect, test } from "vitest";
import { alice, DAY, MemoryWorld, memoryAgent, noConsolidation } from "./memory-world.js";

const start = Date.parse("2025-03-10T12:00:00.000Z");
const day = (days: number) => new Date(start + days * DAY).toISOString().slice(0, 10);

/** A conversation on each of these days, counted from the first, with a fact noted on each. */
async function talk(world: MemoryWorld, days: readonly number[], memory = {}): Promise<void> {
  const one = memoryAgent(world, {
    flush: (_, index) => `- fact ${index}`,
    consolidation: `# Memory\n${"- something\n".repeat(5)}`,
    memory: { flushTrigger: "always", ...memory },
  });
  for (const [index, at] of days.entries()) {
    world.time = start + at * DAY;
    await one.say(`day ${at}`, `s${at}`);
    await one.seen("consolidation_end", index + 1);
  }
  await one.agent.close();
}

describe("notes of long ago", () => {
  test("go to the archive after 90 days, whole", async () => {
    const world = new MemoryWorld();
    await talk(world, [0]);
    const notes = await world.notes(alice, day(0));
    await talk(world, [90]);
    expect(await world.notes(alice, day(0))).toBe(notes);
    await talk(world, [91]);
    expect(await world.notes(alice, day(0))).toBe("");
    expect(await world.files.read(alice, `memory/archive/${day(0)}.md`)).toBe(notes);
    expect(await world.notes(alice, day(90))).toContain("- fact");
  });

  test("stay as long as the memory does not have them", async () => {
    const world = new MemoryWorld();
    await world.files.appendNotes(alice, new Date(start), "old", "- old");
    const one = memoryAgent(world, { memory: { consolidation: noConsolidation } });
    world.time = start + 200 * DAY;
    await one.say("Hello.");
    await one.seen("memory_flush_end");
    await one.agent.close();
    expect(await world.notes(alice, day(0))).toContain("- old");
  });

  test("that are written late go behind what the archive has of their day", async () => {
    const world = new MemoryWorld();
    await talk(world, [0, 91]);
    const archived = await world.files.read(alice, `memory/archive/${day(0)}.md`);
    await world.files.appendNotes(alice, new Date(start), "late", "- a late one");
    await talk(world, [93]);
    const both = await world.files.read(alice, `memory/archive/${day(0)}.md`);
    expect(both?.startsWith(archived ?? "?")).toBe(true);
    expect(both).toContain("- a late one");
    expect(await world.notes(alice, day(0))).toBe("");
  });
});

describe("logs of long ago", () => {
  const sessions = async (world: MemoryWorld) => {
    const page = await world.store.log.sessions({ agentId: "agent", userId: "alice" });
    return page.sessions.map(({ slot }) => slot.sessionId).sort();
  };

  test("stay unless the program says otherwise", async () => {
    const world = new MemoryWorld();
    await talk(world, [0, 4_000]);
    expect(await sessions(world)).toEqual(["s0", "s4000"]);
  });

  test("are deleted when their sessions were quiet for longer than they may", async () => {
    const world = new MemoryWorld();
    await talk(world, [0, 20, 31, 32], { sessionRetentionDays: 30 });
    expect(await sessions(world)).toEqual(["s20", "s31", "s32"]);
  });

  test("stay while a call is at their session", async () => {
    const world = new MemoryWorld();
    await talk(world, [0]);
    const slot = { ...alice, sessionId: "s0" };
    const lease = await world.store.gate.acquire(slot, { callId: "running" });
    await talk(world, [31, 32], { sessionRetentionDays: 30 });
    expect(await sessions(world)).toEqual(["s0", "s31", "s32"]);
    await lease.release();
    await talk(world, [33], { sessionRetentionDays: 30 });
    expect(await sessions(world)).toEqual(["s31", "s32", "s33"]);
  });

  test("of other users and agents stay", async () => {
    const world = new MemoryWorld();
    const at = new Date(start).toISOString();
    const mark = { name: "something" };
    const others = [
      { ...alice, userId: "bob" },
      { ...alice, agentId: "other" },
      { ...alice, userId: null },
    ];
    for (const slot of others)
      await world.store.log.append(slot, [
        { v: 1, id: "one", callId: "call", at, kind: "mark", mark },
      ]);
    await talk(world, [0, 400, 401], { sessionRetentionDays: 30 });
    for (const slot of others) expect(await world.log(slot)).toHaveLength(1);
  });

  test("are each agent's own to delete: another that keeps them for ever does not prevent it", async () => {
    const world = new MemoryWorld();
    await talk(world, [0], { sessionRetentionDays: 30 });
    world.time = start + 60 * DAY;
    const other = memoryAgent(world, {
      agent: { name: "other" },
      memory: { flushTrigger: "always" },
    });
    await other.say("Hello.");
    await other.agent.close();
    await talk(world, [60, 61], { sessionRetentionDays: 30 });
    expect(await sessions(world)).toEqual(["s60", "s61"]);
  });

  test("stay when a call comes to their session just before they would go", async () => {
    const world = new MemoryWorld();
    await talk(world, [0, 31], { sessionRetentionDays: 30 });
    const slot = { ...alice, sessionId: "s0" };
    const { log } = world.store;
    const listed = log.sessions.bind(log);
    log.sessions = async (query) => {
      const page = await listed(query);
      if (query.limit !== undefined) return page;
      const at = new Date(world.time).toISOString();
      const mark = { name: "something" };
      await log.append(slot, [{ v: 1, id: "late", callId: "call", at, kind: "mark", mark }]);
      return page;
    };
    await talk(world, [32], { sessionRetentionDays: 30 });
    log.sessions = listed;
    expect(await sessions(world)).toContain("s0");
  });

  test("that begin anew are flushed from their beginning", async () => {
    const world = new MemoryWorld();
    await talk(world, [0, 31, 32], { sessionRetentionDays: 30 });
    const one = memoryAgent(world, { flush: "- again", memory: { flushTrigger: "always" } });
    world.time = start + 40 * DAY;
    await one.say("back again", "s0");
    await one.seen("memory_flush_end");
    expect(await world.facts()).toEqual(["- again"]);
  });
});
