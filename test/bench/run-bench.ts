import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { BenchReport } from "../../bench/src/report/report.js";

const program = fileURLToPath(new URL("../../bench/dist/main.js", import.meta.url));

/** Runs the bench in a process of its own and returns its report. */
export function runBench(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): BenchReport {
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...args, "--json", "-"],
    { env: { ...env, ...variables }, encoding: "utf8", timeout: 550_000 },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as BenchReport;
}
