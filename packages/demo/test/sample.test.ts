import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleProject } from "../src/demo-files.js";
import { sessionScript } from "../src/session/session-script.js";

test("the sample project works: its own tests pass", () => {
  const files = readdirSync(join(sampleProject(), "test")).map((name) => join("test", name));
  const env = { ...process.env, NODE_OPTIONS: "", NODE_TEST_CONTEXT: undefined };
  const report = execFileSync(process.execPath, ["--test", ...files], {
    ...{ cwd: sampleProject(), env, encoding: "utf8" },
  });
  expect(report).toMatch(/pass 8\b/);
});

test("its records are large enough to be evicted", () => {
  const records = statSync(join(sampleProject(), "records", "departures-2025.csv"));
  expect(records.size).toBeGreaterThan(200_000);
});

test.each([60, 61, 200, 5_000])(
  "a script of %i turns has every showcase turn, in order",
  (turns) => {
    const script = sessionScript(turns);
    expect(script).toHaveLength(turns);
    const showcases = script.filter(
      ({ expects, isKilled, asksFor }) => expects ?? isKilled ?? asksFor,
    );
    expect(showcases).toHaveLength(6);
    expect(script.findIndex(({ isKilled }) => isKilled)).toBeGreaterThan(turns / 2 - 1);
  },
);
