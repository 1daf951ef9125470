import { InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { describe, expect, test } from "vitest";
import { SlotClaim } from "../src/flush/slot-claim.js";
import { type ClaimTerms, SlotEntries } from "../src/flush/slot-entries.js";
import { alice, MemoryWorld, memoryAgent, noConsolidation, questionOf } from "./memory-world.js";

const namespace = ["memory-flush", "slots"];

function desk(keyValue: KeyValueStore = new InMemoryKeyValueStore()) {
  const desk = {
    time: Date.parse("2025-03-10T12:00:00.000Z"),
    keyValue,
    entries: new SlotEntries(keyValue),
    claim: (terms: Partial<ClaimTerms> = {}, slot = alice) =>
      desk.entries.claim(slot, {
        ...{ now: () => desk.time, throttleMs: 1_000, timeoutMs: 5_000, forced: false },
        ...terms,
      }),
    async claimed(terms: Partial<ClaimTerms> = {}): Promise<SlotClaim> {
      const claim = await desk.claim(terms);
      if (!(claim instanceof SlotClaim)) throw new Error(`not before ${claim.at}`);
      return claim;
    },
  };
  return desk;
}

describe("the claim of a session", () => {
  test("goes to one of many who ask at once", async () => {
    const { claim } = desk();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim({ forced: true })));
    expect(claims.filter((one) => one instanceof SlotClaim)).toHaveLength(1);
  });

  test("is free again for the next window once it was given up", async () => {
    const bench = desk();
    await (await bench.claimed()).done(false);
    expect(await bench.claim()).toEqual({ at: bench.time + 1_000 });
    expect(await bench.claim({ forced: true })).toBeInstanceOf(SlotClaim);
  });

  test("ends by itself when its process died, and the dead cannot write any more", async () => {
    const bench = desk();
    const dead = await bench.claimed();
    bench.time += 10_000;
    expect(await bench.claim()).not.toBeInstanceOf(SlotClaim);
    bench.time += 30_000;
    const heir = await bench.claimed();
    await expect(dead.advance(99)).rejects.toMatchObject({ code: "CONFLICT" });
    await heir.advance(7);
    await heir.done(false);
    bench.time += 1_000;
    expect((await bench.claimed()).seq).toBe(7);
  });

  test("is held as long as its process renews it", async () => {
    const bench = desk();
    const claim = await bench.claimed();
    for (let n = 0; n < 5; n++) {
      bench.time += 20_000;
      await claim.renew();
    }
    expect(await bench.claim({ forced: true })).not.toBeInstanceOf(SlotClaim);
  });

  test("does not count as a flush when there was nothing to flush", async () => {
    const bench = desk();
    await (await bench.claimed()).nothing(3);
    expect((await bench.claimed()).seq).toBe(3);
  });

  test("is refused for ever longer while flushes fail, to those who force it too", async () => {
    const bench = desk();
    const waits: number[] = [];
    for (let failure = 0; failure < 12; failure++) {
      await (await bench.claimed({ forced: true })).failed();
      const answer = await bench.claim({ forced: true });
      const at = answer instanceof SlotClaim ? bench.time : answer.at;
      if (answer instanceof SlotClaim) await answer.failed();
      waits.push(at - bench.time);
      bench.time = at + 3_600_000;
    }
    expect(waits[0]).toBe(0);
    expect(waits.slice(1).every((wait, index) => wait >= (waits[index] ?? 0))).toBe(true);
    expect(waits.at(-1)).toBe(3_600_000);
  });

  test("is not kept from anybody by a clock that was set back by years", async () => {
    const bench = desk();
    await (await bench.claimed()).done(false);
    bench.time -= 10 * 365 * 86_400_000;
    expect(await bench.claim()).toBeInstanceOf(SlotClaim);
  });

  test("is respected by a process that would not wait so long for its own model", async () => {
    const bench = desk();
    await bench.claimed({ timeoutMs: 600_000 });
    bench.time += 500_000;
    expect(await bench.claim({ timeoutMs: 5_000, forced: true })).not.toBeInstanceOf(SlotClaim);
    bench.time += 200_000;
    expect(await bench.claim({ timeoutMs: 5_000 })).toBeInstanceOf(SlotClaim);
  });

  test("is another for every agent, user and session", async () => {
    const bench = desk();
    const slots = [
      alice,
      { ...alice, agentId: "agent2" },
      { ...alice, userId: null },
      { ...alice, userId: "0" },
      { ...alice, sessionId: "s" },
    ];
    for (const slot of slots) expect(await bench.claim({}, slot)).toBeInstanceOf(SlotClaim);
  });
});

test("a log that was deleted and counts from its beginning is flushed from there", async () => {
  const world = new MemoryWorld();
  const entry = { seq: 1_000_000, flushedAt: 0, lookedAt: 0, failures: 0 };
  await world.store.keyValue.put(namespace, slotKey(alice), entry);
  const one = memoryAgent(world, { memory: { consolidation: noConsolidation } });
  await one.say("a new beginning");
  await one.seen("memory_flush_end");
  expect(questionOf(one.flushes()[0])).toContain("a new beginning");
});

test("an entry that cannot be read counts as none", async () => {
  const world = new MemoryWorld();
  await world.store.keyValue.put(namespace, slotKey(alice), "damaged");
  const one = memoryAgent(world, { flush: "- a", memory: { consolidation: noConsolidation } });
  await one.say("Hello.");
  await one.seen("memory_flush_end");
  expect(await world.facts()).toEqual(["- a"]);
});
