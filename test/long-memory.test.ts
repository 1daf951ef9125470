import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("../examples/long-memory/dist/main.js", import.meta.url));

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-long-memory-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function run(directory: string, ...args: string[]) {
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...env, TMPDIR: directory },
    encoding: "utf8",
    timeout: 290_000,
  });
  return { status, stdout, stderr };
}

test("the story of two sessions a week apart tells a fact of the first in the second", () => {
  const directory = temporaryDirectory();
  const { status, stdout, stderr } = run(directory);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/2026-03-09[\s\S]*< As far as I remember: My daughter Mia is allergic/);
  expect(stdout).toMatch(/users\/you\/MEMORY\.md\n[\s\S]*- The oven is broken/);
  expect(stdout).not.toContain("\u001b");
  expect(readdirSync(directory)).toEqual([]);
});

test("a person can say things on days of their own choice, and no other user hears of them", () => {
  const directory = temporaryDirectory();
  const home = join(directory, "home");
  const say = (day: string, user: string, text: string) =>
    run(directory, "--home", home, "--day", day, "--user", user, text);
  expect(say("2027-01-04", "ann", "My boat is called Heron.").stdout).toBe("All right, noted.\n");
  const asked = "What is the name of my boat?";
  expect(say("2027-02-01", "ann", asked)).toEqual({
    status: 0,
    stdout: "As far as I remember: My boat is called Heron.\n",
    stderr: "",
  });
  expect(say("2027-02-01", "bob", asked).stdout).toBe("I do not know anything about that yet.\n");
});

test("what it does not understand it says how to use", () => {
  const { status, stderr } = run(temporaryDirectory(), "--day", "tomorrow", "hello");
  expect(status).toBe(2);
  expect(stderr).toContain("--day <YYYY-MM-DD>");
});
