import { expect, test } from "vitest";
import type { Contender } from "../../bench/src/measure/contender.js";
import { TurnCase } from "../../bench/src/measure/turn-case.js";

/** A contender that keeps nothing but the length of its sessions. */
function countingContender() {
  const lengths = new Map<string, number>();
  const contender: Contender = {
    store: "none",
    name: "counting",
    async seed(sessionId, messages) {
      expect(lengths.has(sessionId)).toBe(false);
      lengths.set(sessionId, messages);
    },
    async turn(sessionId) {
      lengths.set(sessionId, (lengths.get(sessionId) ?? Number.NaN) + 2);
    },
  };
  return { contender, lengths };
}

const effort = { batch: 10, maxMs: Number.POSITIVE_INFINITY };

test.each([10, 100, 1_000])(
  "sessions of %d messages grow by a fifth or 40 messages at most",
  async (messages) => {
    const { contender, lengths } = countingContender();
    const turns = new TurnCase(contender, messages, effort);
    for (let round = 0; round < 30; round++) await turns.round();
    expect(lengths.size).toBeGreaterThan(1);
    for (const length of lengths.values())
      expect(length).toBeLessThanOrEqual(messages + Math.max(messages / 5, 40));
  },
);

test("a long session serves many rounds, since filling it takes long", async () => {
  const { contender, lengths } = countingContender();
  const turns = new TurnCase(contender, 5_000, effort);
  for (let round = 0; round < 30; round++) await turns.round();
  expect(lengths.size).toBe(1);
});

test("a round ends when its time is over, with at least one turn", async () => {
  const { contender } = countingContender();
  const sample = await new TurnCase(contender, 10, { batch: 10, maxMs: 0 }).round();
  expect(sample.turns).toBe(1);
});
