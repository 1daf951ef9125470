import type { LogRecord } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type PlayedCalls, playCalls, tokensIn } from "./play-calls.js";
import { plannedCalls } from "./random-calls.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 10_000 : 50;

/**
 * The records that say a token: those that are shown, else all. A stranger that passes by the gate may take in an answer that
 * a live call has in the inbox, so that both say it.
 */
function saying({ records, discarded }: PlayedCalls, token: string) {
  const all = records.filter(({ message }) => message && tokensIn(message).includes(token));
  const shown = all.filter((one) => !discarded.has(one));
  return shown.length > 0 ? shown : all;
}

test("whatever happens to calls and their store, the log has what was said once, in order, and hides only what is gone", async () => {
  const property = fc.asyncProperty(plannedCalls, async (plan) => {
    const played = await playCalls(plan);
    const { records, outcomes, discarded, seen, stored } = played;
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    for (const token of seen) expect(saying(played, token), `${token} was said`).toHaveLength(1);
    for (const run of played.runs) {
      const said = records.flatMap((record) =>
        record.message
          ? tokensIn(record.message).filter(
              (token) => run.tokens.includes(token) && saying(played, token).includes(record),
            )
          : [],
      );
      expect(said, "no token twice, and in order").toEqual(
        run.tokens.filter((token) => said.includes(token)),
      );
      // Its input may have been said by an earlier run with the same call id.
      if (run.isWhole) expect(said).toEqual(expect.arrayContaining(run.tokens.slice(1)));
      const of = run.tokens.flatMap((token) => saying(played, token));
      // Another may have taken its input in, which then is part of the session.
      const isGone = ({ message }: LogRecord) =>
        message !== undefined &&
        tokensIn(message).every(
          (token) =>
            !stored.has(token) &&
            !played.runs.some((other) => other !== run && other.seen.has(token)),
        );
      if (run.end === "discarded")
        expect(of.filter((one) => !discarded.has(one) && isGone(one))).toEqual([]);
      if (run.end === "kept") expect(of.filter((one) => discarded.has(one))).toEqual([]);
      if (run.end !== "died") expect(of.filter((one) => outcomes.get(one) === null)).toEqual([]);
    }
    for (const token of stored)
      expect(
        saying(played, token).filter((one) => discarded.has(one)),
        `${token} stood`,
      ).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs });
});
