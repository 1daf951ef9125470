import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(
  new URL("../examples/crash-and-resume/dist/main.js", import.meta.url),
);

test("the example serves two users, survives its own kill -9 and ends with 0", () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-crash-and-resume-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    cwd: directory,
    env: { ...env, HOLDFAST_STATE_HOME: join(directory, "state") },
    encoding: "utf8",
    timeout: 300_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("both calls are inside the tool now");
  expect(stdout).toContain("is gone (SIGKILL)");
  expect(stdout).toMatch(/user +Write the report of the quarter\./);
  expect(stdout).toMatch(/session "report[^"]*" is unfinished: resume it/);
  expect(stdout).toMatch(/tool +write_report \(interrupted\)/);
  expect(stdout).toMatch(/< The report is written\./);
  expect(stdout.match(/carol +>/g), "nobody repeats the request").toHaveLength(1);
  expect(stdout.match(/collect_figures done/g), "a finished tool is not run again").toHaveLength(1);
  expect(stdout).not.toContain("\u001b");
  expect(readdirSync(join(directory, "state")).sort()).toEqual(
    expect.arrayContaining(["guide", "reporter"]),
  );
});
