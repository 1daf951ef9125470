import type { ReplayProvider } from "./replay-provider.js";
import type { Totals } from "./token-ledger.js";

/** Cost of a replay. */
export interface ReplayResult {
  /** Name of the contender. */
  readonly name: string;
  readonly window: number;
  /** Set up like the others, or as it is by default. */
  readonly setting: "alike" | "defaults";
  /** Reason why it could not play to the end, or null. */
  readonly failure: string | null;
  readonly reasoning: Totals;
  readonly summaries: Totals;
  /** Requests that did not fit the window. */
  readonly refused: number;
  /** Requests that a provider or the user would not accept. */
  readonly invalid: number;
  /** Tokens of the longest request but for summaries. */
  readonly longest: number;
  /** Input tokens billed for all requests, as they were sent. */
  readonly billed: number;
  /** The same, with the same system prompt and tools for all. */
  readonly billedAlike: number;
  readonly seconds: number;
}

/** Reads the books of a provider after a replay. */
export function resultOf(
  provider: ReplayProvider,
  run: Pick<ReplayResult, "name" | "setting" | "failure" | "seconds">,
): ReplayResult {
  const { ledger } = provider;
  const reasoning = ledger.totals("reasoning");
  const summaries = ledger.totals("summary");
  return {
    ...run,
    window: provider.window,
    reasoning,
    summaries,
    refused: provider.refused,
    invalid: provider.problems.length,
    longest: ledger.longest("reasoning"),
    billed: Math.round(reasoning.billed + summaries.billed),
    billedAlike: Math.round(reasoning.billedAlike + summaries.billedAlike),
  };
}
