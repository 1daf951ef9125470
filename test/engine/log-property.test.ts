import type { LogRecord } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type PlayedCalls, playCalls, type Run, tokensIn } from "./play-calls.js";
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

/**
 * The records that say a token in the words of its own run. The input of a run that a stranger took in as well stands in the
 * log a second time, wherever the stranger was then; its order says nothing about the run.
 */
function sayingItself(played: PlayedCalls, { tokens }: Run, token: string) {
  const runIdOf = ({ id }: LogRecord) => id.split(".")[0];
  const later = new Set(tokens.slice(1).flatMap((one) => saying(played, one).map(runIdOf)));
  const own = played.records.filter(
    (record) =>
      record.message && tokensIn(record.message).includes(token) && later.has(runIdOf(record)),
  );
  return own.length > 0 ? own : saying(played, token);
}

test("whatever happens to calls and their store, the log has what was said once, in order, and hides only what is gone", {
  timeout: 300_000 + runs * 100,
}, async () => {
  const property = fc.asyncProperty(plannedCalls, async (plan) => {
    const played = await playCalls(plan);
    const { records, outcomes, discarded, seen, stored } = played;
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    const strangers = played.runs.filter(({ isStranger }) => isStranger);
    // Input that a stranger took in beside its own run is in the words of both, and each kept them or not.
    const isShared = (token: string) =>
      strangers.some((run) => run.seen.has(token) && !run.tokens.includes(token));
    for (const token of seen) {
      const runIds = saying(played, token).map(({ id }) => id.split(".")[0]);
      expect(new Set(runIds).size, `${token} was said once by a run`).toBe(runIds.length);
      if (!isShared(token)) expect(runIds, `${token} was said`).toHaveLength(1);
      else expect(runIds.length, `${token} was said`).toBeGreaterThan(0);
    }
    for (const run of played.runs) {
      const said = records.flatMap((record) =>
        record.message
          ? tokensIn(record.message).filter(
              (token) =>
                run.tokens.includes(token) && sayingItself(played, run, token).includes(record),
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
    // What a stranger saved of a run that was then taken back stands and is hidden: each is right about its own.
    for (const token of stored)
      if (!isShared(token))
        expect(
          saying(played, token).filter((one) => discarded.has(one)),
          `${token} stood`,
        ).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs });
});
