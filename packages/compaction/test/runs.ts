import { scaled } from "@holdfast/testing";

/** Returns how often a property is tried. */
export function runs(usual = 100, long = 20_000): { readonly numRuns: number } {
  return { numRuns: scaled(usual, long) };
}
