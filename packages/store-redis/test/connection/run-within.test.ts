import { UnknownOutcomeError } from "@holdfast/core";
import { expect, test } from "vitest";
import { LineKeeper } from "../../src/connection/line-keeper.js";
import { runWithin } from "../../src/connection/run-within.js";

test("a write that was lost is unknown also when its deadline comes before the next attempt", async () => {
  const line = { opened: Promise.resolve(), isOpen: true, drop() {} };
  const keeper = new LineKeeper(() => line, 60_000);
  let attempts = 0;
  const run = (deadlineMs: number) =>
    runWithin(keeper, {
      ...{ what: "writing", writes: true, deadlineMs },
      exchange: () => {
        attempts++;
        return Promise.reject(new Error("Connection is closed."));
      },
    });
  // Shorter than the first pause.
  for (let round = 0; round < 20; round++)
    await expect(run(2)).rejects.toSatisfy(UnknownOutcomeError.is);
  const before = attempts;
  await expect(run(200)).rejects.toSatisfy(UnknownOutcomeError.is);
  expect(attempts).toBeGreaterThan(before + 1);
  const after = attempts;
  await new Promise((resolve) => setImmediate(resolve));
  expect(attempts, "attempts after the deadline").toBe(after);
  keeper.close();
});
