import fc from "fast-check";
import { inject, type TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Counts that the table at the end of a run shows. */
    figures?: Readonly<Record<string, number | string>>;
  }
}

/** Properties take as long as the machine needs. */
export const slow: { readonly timeout: number } = { timeout: 3_600_000 };

/** The same `count` values for the same seed; `HOLDFAST_SECURITY_SEED` repeats those of an earlier run. */
export function samples<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: inject("securitySeed") });
}

/** Puts counts of this test into the table at the end of the run. */
export function report(
  { task }: TestContext,
  figures: Readonly<Record<string, number | string>>,
): void {
  task.meta.figures = { ...task.meta.figures, ...figures };
}
