import type { LogRecord, Slot } from "@holdfast/core";
import { expect, test } from "vitest";
import { logRecords } from "../../src/transfer/log-records.js";
import { recordOf, sampleMessage } from "./sample-sessions.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A log of records with texts of these lengths, that notes what is asked of it. */
function logOf(lengths: readonly number[]) {
  const asked: { readonly limit: number; readonly chars: number }[] = [];
  const lengthOf = (seq: number): number => lengths[seq - 1] ?? 0;
  return {
    asked,
    read: async (_slot: Slot, { after = 0, limit = 0 } = {}): Promise<LogRecord[]> => {
      const count = Math.min(limit, lengths.length - after);
      const page = Array.from({ length: count }, (_, at) => recordAt(after + at + 1, lengthOf));
      asked.push({ limit, chars: page.reduce((sum, { seq }) => sum + lengthOf(seq), 0) });
      return page;
    },
  };
}

function recordAt(seq: number, lengthOf: (seq: number) => number): LogRecord {
  const text = "x".repeat(lengthOf(seq));
  // Texts that are long enough are kept apart; of shorter ones there may be many in a record.
  const content = [{ type: "text" as const, text }];
  return { ...recordOf(1, seq, { ...sampleMessage(1, seq), content }), seq };
}

async function places(log: ReturnType<typeof logOf>): Promise<number[]> {
  const found: number[] = [];
  for await (const { seq } of logRecords(log, slot)) found.push(seq);
  return found;
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test("large records are read few at a time, and all of them in order", async () => {
  const log = logOf(upTo(60).map(() => 400_000));
  expect(await places(log)).toStrictEqual(upTo(60));
  expect(log.asked[0]?.limit).toBeLessThanOrEqual(10);
  for (const { chars } of log.asked.slice(1)) expect(chars).toBeLessThanOrEqual(800_000);
});

test("a record larger than a page comes alone", async () => {
  const log = logOf(upTo(12).map(() => 3_000_000));
  expect(await places(log)).toStrictEqual(upTo(12));
  expect(new Set(log.asked.slice(1).map(({ limit }) => limit))).toStrictEqual(new Set([1]));
});

test("small records are read many at a time, also after large ones", async () => {
  const log = logOf([...upTo(20).map(() => 400_000), ...upTo(2_000).map(() => 20)]);
  expect(await places(log)).toStrictEqual(upTo(2_020));
  expect(log.asked.length).toBeLessThan(50);
  expect(Math.max(...log.asked.map(({ limit }) => limit))).toBe(200);
});

test("wherever a log ends, its end is found", async () => {
  for (let count = 0; count < 60; count++)
    expect(await places(logOf(upTo(count).map(() => 20)))).toStrictEqual(upTo(count));
});
