import { expect, test } from "vitest";
import { SearchBudget, searchLimits } from "../../src/log/search-budget.js";
import { searchWindows, WINDOWS_PER_STATEMENT } from "../../src/log/search-windows.js";
import { loggedSlot as slot } from "./log-records.js";

const limits = searchLimits(120_000);

test("a search may go on until records, bytes or time are spent", () => {
  const budget = new SearchBudget(limits, undefined);
  budget.spendRecords(limits.records - 1);
  budget.spendBytes(limits.bytes - 1);
  expect(budget.hasMore()).toBe(true);
  budget.spendRecords(1);
  expect(budget.hasMore()).toBe(false);
  const heavy = new SearchBudget(limits, undefined);
  heavy.spendBytes(limits.bytes);
  expect(heavy.hasMore()).toBe(false);
  expect(new SearchBudget({ ...limits, ms: 0 }, undefined).hasMore()).toBe(false);
});

test("windows hold every record once, newest first, few enough for one statement", () => {
  const lengths = [700, 0, 1, 2, 3, 256, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 255, 257];
  const sessions = lengths.map((lastSeq, index) => ({
    k: Buffer.from([index]),
    slot: { ...slot, sessionId: `${index}` },
    lastSeq,
  }));
  const groups = [...searchWindows(sessions, limits.windowRecords)];
  for (const group of groups) {
    expect(group.length).toBeLessThanOrEqual(WINDOWS_PER_STATEMENT);
    const records = group.reduce((sum, { after, last }) => sum + last - after, 0);
    expect(records).toBeLessThanOrEqual(limits.windowRecords);
  }
  const seen = groups
    .flat()
    .flatMap(({ session, after, last }) =>
      Array.from({ length: last - after }, (_, index) => `${session.k[0]}:${last - index}`),
    );
  const wanted = lengths.flatMap((length, session) =>
    Array.from({ length }, (_, index) => `${session}:${length - index}`),
  );
  expect(seen).toEqual(wanted);
});
