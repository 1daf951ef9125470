import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("../examples/any-provider/dist/main.js", import.meta.url));

test("one session goes from provider to provider, and a call is shown as a tree of spans", () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-any-provider-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    // No keys: nobody's account is to be charged for a test.
    env: { PATH: process.env["PATH"], TMPDIR: directory },
    encoding: "utf8",
    timeout: 300_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  for (const count of [1, 2, 3])
    expect(stdout).toContain(`I was shown ${count} of your questions, and bills.txt, letters.txt.`);
  expect(stdout.match(/^ {4}\S+/gm)?.map((line) => line.trim())).toEqual(
    expect.arrayContaining(["holdfast.state.load", "execute_tool", "holdfast.state.save"]),
  );
  expect(readdirSync(directory)).toEqual([]);
});
