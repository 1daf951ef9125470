import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runBench } from "./run-bench.js";

test("a run reports its tables, its machine and its load as JSON", () => {
  const args = ["turns", "--store", "json", "--sizes", "10", "--quick", "--rounds", "1"];
  const report = runBench(args);
  expect(report).toMatchObject({
    v: 1,
    quick: true,
    failures: [],
    machine: { node: process.version, cores: expect.any(Number) },
    load: [expect.any(Number), expect.any(Number)],
  });
  expect(report.command).toBe(`npm run bench -- ${args.join(" ")}`);
  expect(report.tables.map(({ name }) => name)).toEqual(["turns", "turns cpu"]);
  for (const { columns, rows } of report.tables) {
    expect(columns).toEqual([{ name: "N=10", unit: "ms" }]);
    expect(rows.map(({ store, contender }) => [store, contender])).toEqual([
      ["json", "floor"],
      ["json", "one node"],
      ["json", "two nodes in turn"],
      ["json", "three nodes at random"],
    ]);
    for (const { figures, failure } of rows) {
      expect(failure).toBeUndefined();
      expect(figures).toEqual([expect.any(Number)]);
    }
  }
});

test("a name that is none is refused with those that are", () => {
  const program = fileURLToPath(new URL("../../bench/dist/main.js", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [program, "turn"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("there is no bench turn; there are turns, cold-start");
});
