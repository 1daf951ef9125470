import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "@holdfast/demo";
import { eventually, scaled, tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { holdfast } from "./support/in-process.js";
import { CommandProcess, runProcess } from "./support/process.js";
import { CTRL_C, PseudoTerminal } from "./support/pseudo-terminal.js";

/** Processes whose command line names a directory: workers are told where to work. */
function processesIn(directory: string): string[] {
  const rows = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return rows.filter((row) => row.includes(directory));
}

function expectKept(outcome: Outcome, turns: number): void {
  expect(outcome.problems).toEqual([]);
  expect(outcome).toMatchObject({ turns, lostTurns: [], kills: 1, evictions: 1 });
  expect(outcome.compactions).toBeGreaterThanOrEqual(2);
  expect(outcome.truncations).toBeGreaterThanOrEqual(1);
  expect(outcome.evictedBytes).toBeGreaterThan(200_000);
  expect(outcome.memoryFacts).toBeGreaterThanOrEqual(1);
  expect(outcome.quote).toContain("the ticket machine at Skarv");
  const { withHoldfast, wholeHistory } = outcome.tokens;
  expect(outcome.evictedTokens).toBeGreaterThan(50_000);
  expect(wholeHistory.last).toBeGreaterThan(outcome.evictedTokens);
  expect(withHoldfast.total).toBeLessThan(wholeHistory.total);
  expect(withHoldfast.largest).toBeLessThan(24_000);
  expect(outcome.perTurn).toHaveLength(turns);
  for (const turn of outcome.perTurn) {
    expect(turn.withHoldfast).toBeGreaterThan(0);
    expect(turn.wholeHistory).toBeGreaterThan(0);
  }
}

describe("holdfast demo", () => {
  test("keeps every promise over the whole session, and leaves nothing behind", async () => {
    const turns = scaled(80, 200);
    await using directory = await tempDirectory();
    const { code, stdout, stderr } = await runProcess(
      ["demo", "--json", "--turns", String(turns)],
      {
        env: { TMPDIR: directory.path },
      },
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expectKept(JSON.parse(stdout) as Outcome, turns);
    expect(readdirSync(directory.path)).toEqual([]);
    expect(processesIn(directory.path)).toEqual([]);
  });

  test("tells its story in plain ASCII that fits 80 columns, and keeps its files when asked to", async () => {
    await using directory = await tempDirectory();
    const { code, stdout, stderr } = await runProcess(["demo", "--turns", "60", "--keep"], {
      env: { TMPDIR: directory.path, LC_ALL: "C" },
    });
    expect([code, stderr]).toEqual([0, ""]);
    for (const kind of ["truncated", "evicted", "compacted", "killed", "resumed", "found"])
      expect(stdout).toMatch(new RegExp(`^ {2}turn +\\d+ {2}${kind}`, "m"));
    expect(stdout).toContain("turns lost                  0");
    expect(stdout).toMatch(/^ {4}node \S*main\.js chat$/m);
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    for (const line of stdout.split("\n").filter((text) => !text.includes(directory.path)))
      expect(line.length, line).toBeLessThanOrEqual(80);
    const [kept = ""] = readdirSync(directory.path);
    const store = join(directory.path, kept, "store");
    expect(stdout).toContain(`--store json:${store} --agent coder --user you`);
    const whose = ["--store", `json:${store}`, "--agent", "coder", "--user", "you"];
    const listed = await runProcess(["sessions", "list", "--json", ...whose]);
    expect(listed.stdout).toContain('"sessionId":"demo"');
  });

  test("draws one block again and again in a terminal; Ctrl-C ends it with 130, its workers and files with it", async () => {
    await using directory = await tempDirectory();
    await using terminal = new PseudoTerminal(["demo"], {
      cwd: directory.path,
      env: { TMPDIR: directory.path, LC_ALL: "C.UTF-8" },
    });
    await terminal.shows("truncated");
    await terminal.shows("> Find");
    expect(processesIn(directory.path)).toHaveLength(1);
    // Pressed again and again.
    const presses = setInterval(() => terminal.type(CTRL_C), 5);
    expect(await terminal.exited.finally(() => clearInterval(presses))).toBe(130);
    expect(terminal.raw).toContain("\u001b[5A\r\u001b[J");
    expect(terminal.text).toMatch(/turn +\d+\/200 █+░+ {2}process \d+/);
    expect(terminal.text).toMatch(/request +[\d,]+ tokens [▁▂▃▄▅▆▇█]+/);
    expect(terminal.text).not.toContain("holdfast:");
    expect(readdirSync(directory.path)).toEqual([]);
    expect(processesIn(directory.path)).toEqual([]);
  });

  test("a reader that leaves the pipe ends it, and leaves nothing behind", async () => {
    await using directory = await tempDirectory();
    await using demo = new CommandProcess(["demo"], { env: { TMPDIR: directory.path } });
    await demo.says("truncated");
    demo.child.stdout.destroy();
    expect(await demo.ended).toBe(143);
    await eventually(() => processesIn(directory.path).length === 0);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("its workers do not outlive it, even when it is killed itself", async () => {
    await using directory = await tempDirectory();
    await using demo = new CommandProcess(["demo"], { env: { TMPDIR: directory.path } });
    await eventually(() => processesIn(directory.path).length === 1, { timeoutMs: 45_000 });
    demo.child.kill("SIGKILL");
    await demo.ended;
    await eventually(() => processesIn(directory.path).length === 0);
  });

  test.each(["59", "many", "5001"])("refuses --turns %s as wrong usage", async (turns) => {
    const { code, stderr } = await holdfast(["demo", "--turns", turns]);
    expect(code).toBe(2);
    expect(stderr).toContain("a whole number from 60 to 5000 is needed");
  });
});
