import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("../examples/endless-session/dist/main.js", import.meta.url));
const timeout = 300_000;

/** Runs the program to its end; nothing may be left in the directory for temporary files. */
function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-endless-session-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...env, TMPDIR: directory },
    encoding: "utf8",
    timeout: timeout - 5_000,
  });
  expect(readdirSync(directory)).toEqual([]);
  return { status, stdout, stderr };
}

test("a session of 150 turns stays below its trigger and knows what left its context", {
  timeout,
}, () => {
  const { status, stdout, stderr } = run("--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ turns: 150, triggerTokens: 10_000, problems: [] });
  expect(outcome.longestRequest).toBeGreaterThan(9_000);
  expect(outcome.longestRequest).toBeLessThan(10_000);
  expect(outcome.facts.map(({ answer }: { answer: string }) => answer)).toEqual([
    expect.stringMatching(/L-20417 .* 5832\.23 EUR$/),
    "My summary says: the auditor is called Ines Halvorsen and comes on 14 May.",
    expect.stringMatching(/L-43210 .* 1809\.90 EUR$/),
    "You said: Remember: the auditor is called Ines Halvorsen and comes on 14 May.",
  ]);
  const kinds = outcome.contextChanges.map(({ kind }: { kind: string }) => kind);
  const count = (wanted: string): number => kinds.filter((kind: string) => kind === wanted).length;
  expect(count("summary")).toBeGreaterThanOrEqual(5);
  expect({ truncation: count("truncation"), eviction: count("eviction") }).toEqual({
    truncation: 1,
    eviction: 1,
  });
  expect({ recovery: count("recovery"), failure: count("failure") }).toEqual({
    recovery: 1,
    failure: 0,
  });
  expect(outcome.wholeTokens).toBeGreaterThan(50 * outcome.sentTokens);
  expect(outcome.disk.log).toBeGreaterThan(3_000_000);
  // A journal is rewritten once it has twice what the session holds and 64 KB.
  expect(outcome.disk.state).toBeLessThan(160_000);
});

test("a person who runs it sees progress, a table and a plot, without colour in a file", {
  timeout,
}, () => {
  const { status, stdout, stderr } = run();
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/the model is a script/);
  expect(stdout.match(/^ +turn +\d+ +\d+ messages +[\d,]+ tokens/gm)).toHaveLength(15);
  const rows = [...stdout.matchAll(/^ +\d+0 +\d+ +([\d,]+) +([\d,]+)$/gm)].map((row) =>
    row.slice(1).map((cell) => Number(cell.replaceAll(",", ""))),
  );
  expect(rows).toHaveLength(15);
  for (const [tokens = Infinity, whole = 0] of rows) {
    expect(tokens).toBeLessThan(10_000);
    expect(whole).toBeGreaterThanOrEqual(tokens);
  }
  expect(rows.at(-1)?.[1]).toBeGreaterThan(1_000_000);
  expect(stdout).toMatch(/^ {2}[▁▂▃▄▅▆▇█]{75} {2}0 to 10,000 tokens$/m);
  expect(stdout).toMatch(/turn +97 +recovery/);
  expect(stdout).not.toContain("\u001b");
});
