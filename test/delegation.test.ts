import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../examples/delegation/dist/main.js", import.meta.url));

test("two tasks, an approval and a kill -9: another process goes on and is told the result once", async () => {
  await using directory = await tempDirectory();
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    cwd: directory.path,
    env: { ...env, TMPDIR: directory.path },
    encoding: "utf8",
    timeout: 300_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [first = "", second = ""] = stdout.split("killed with SIGKILL");
  expect(first).toContain("* the scout searches, in the background");
  expect(first).toContain('? treasurer (deposit) wants to call pay_deposit {"euros":60}: approved');
  expect(first).toContain("< The deposit is paid, and the scout is looking.");
  expect(second).toContain("task of treasurer: completed, attempt 1");
  expect(second).toContain("task of scout: running, attempt 2");
  expect(second).toMatch(/< The scout has found a table: Trattoria Roma.*\n {2}< No news\.\n/);
  expect(stdout.match(/\* 60 euros paid/g), "what was approved runs once").toHaveLength(1);
});
