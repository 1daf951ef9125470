import { vi } from "vitest";

// Properties take as long as the machine needs; no test here passes or fails by the clock.
vi.setConfig({ testTimeout: 600_000 });

/** How often a property is tried: `usual` times, `long` with `HOLDFAST_LONG=1`. */
export function runs(usual = 300, long = 20_000): { readonly numRuns: number } {
  return { numRuns: process.env["HOLDFAST_LONG"] === "1" ? long : usual };
}
