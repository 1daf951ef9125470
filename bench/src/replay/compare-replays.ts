import { fixedTokens } from "./airline-desk.js";
import type { Contender } from "./contenders.js";
import { limitsFor } from "./limits.js";
import { ReplayProvider } from "./replay-provider.js";
import { type ReplayResult, resultOf } from "./replay-result.js";
import type { Script } from "./script.js";

/** Contenders to compare, on one script and window. */
export interface ReplayComparison {
  readonly script: Script;
  readonly window: number;
  readonly contenders: readonly Contender[];
  /** Told before each one begins. */
  readonly onBegin?: ((contender: Contender) => void) | undefined;
}

/** Lets one after another play the same script in the same window. */
export async function compareReplays(comparison: ReplayComparison): Promise<ReplayResult[]> {
  const { script, window, contenders, onBegin } = comparison;
  const fixed = fixedTokens(script);
  const results: ReplayResult[] = [];
  for (const contender of contenders) {
    onBegin?.(contender);
    const provider = new ReplayProvider({ script, window, comparableFixedTokens: fixed });
    const stage = { script, provider, limits: limitsFor(window), fixedTokens: fixed };
    const began = performance.now();
    const failure = await contender.play(stage).then(
      () => (provider.isFinished ? null : "stopped before the end"),
      (error: unknown) => (error instanceof Error ? error.name : String(error)),
    );
    const seconds = (performance.now() - began) / 1_000;
    const { name, setting } = contender;
    results.push(resultOf(provider, { name, setting, failure, seconds }));
  }
  return results;
}
