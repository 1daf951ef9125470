import { vi } from "vitest";

// Properties take as long as the machine needs; no test here passes or fails by the clock.
vi.setConfig({ testTimeout: 600_000 });

/** How often a property is tried: 2,000 times unless told otherwise, ten times that with `HOLDFAST_LONG=1`. */
export function runs(count = 2_000): { readonly numRuns: number } {
  return { numRuns: process.env["HOLDFAST_LONG"] === "1" ? count * 10 : count };
}
