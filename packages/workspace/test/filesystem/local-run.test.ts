import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "@holdfast/core";
import type { CommandResult, ShellCommand } from "@holdfast/core/plugin-kit";
import { eventually, spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { LocalFilesystem } from "../../src/filesystem/index.js";
import { bytesOf, mine, readText } from "./sample-files.js";

async function shell() {
  const directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path, shell: true });
  const run = async (
    command: string,
    options: Partial<ShellCommand> = {},
  ): Promise<CommandResult> => {
    const { signal } = new AbortController();
    const result = await files.run?.(mine, { command, timeoutMs: 600_000, signal, ...options });
    if (result === undefined) throw new Error("there is no shell");
    return result;
  };
  const home = join(directory.path, "users/user");
  return { files, run, home, [Symbol.asyncDispose]: directory.cleanup };
}

function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  // One that has ended and was not waited for is a zombie.
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}

/** The number a command wrote to a file; waits for it. */
async function pidIn(path: string): Promise<number> {
  return eventually(async () => Number(await readFile(path, "utf8")));
}

test("a command runs among the user's files and its output and exit code come back", async () => {
  await using here = await shell();
  await here.files.write(mine, "sub/a.txt", bytesOf("hello\n"));
  expect(await here.run("cat sub/a.txt; echo oops >&2; echo made > b.txt; exit 3")).toEqual({
    exitCode: 3,
    stdout: "hello\n",
    stderr: "oops\n",
    timedOut: false,
    truncated: false,
  });
  expect(await readText(here.files, "b.txt")).toBe("made\n");
  expect((await here.run("pwd", { workingDirectory: "sub" })).stdout).toBe(`${here.home}/sub\n`);
});

test("a working directory outside, missing or behind a link is refused", async () => {
  await using here = await shell();
  await here.run("ln -s / out; echo x > file");
  for (const workingDirectory of ["..", "/", "missing", "out", "out/tmp", "file"])
    await expect(here.run("pwd", { workingDirectory }), workingDirectory).rejects.toSatisfy(
      InvalidInputError.is,
    );
});

test("a command sees nothing of this process's environment", async () => {
  await using here = await shell();
  process.env["HOLDFAST_TEST_SECRET"] = "secret";
  try {
    const { stdout } = await here.run("env");
    const names = stdout.split("\n").map((line) => line.split("=")[0] ?? "");
    // The shell itself adds some.
    const own = ["PWD", "SHLVL", "_", "OLDPWD", ""];
    expect(names.filter((name) => !own.includes(name)).sort()).toEqual(["HOME", "LANG", "PATH"]);
    expect(stdout).toContain(`HOME=${here.home}\n`);
    expect((await here.run("read line; echo [$line]")).stdout).toBe("[]\n");
  } finally {
    delete process.env["HOLDFAST_TEST_SECRET"];
  }
});

test("at the timeout the command and all it started are ended, and what it said is kept", async () => {
  await using here = await shell();
  const command = "sleep 1000 & echo $! > pid; echo begun; trap '' TERM; sleep 1000; echo never";
  const result = await here.run(command, { timeoutMs: 2_000 });
  expect(result).toMatchObject({ exitCode: null, timedOut: true, stdout: "begun\n" });
  const pid = await pidIn(join(here.home, "pid"));
  await eventually(() => !isAlive(pid));
});

test("an abort ends the command and all it started, and rejects with its reason", async () => {
  await using here = await shell();
  const controller = new AbortController();
  const { signal } = controller;
  const running = here.run("sleep 1000 & echo $! > pid; wait", { signal });
  const pid = await pidIn(join(here.home, "pid"));
  expect(isAlive(pid)).toBe(true);
  const reason = new Error("the caller left");
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  await eventually(() => !isAlive(pid));
  await expect(here.run("echo x > late", { signal })).rejects.toBe(reason);
  expect(await readdir(here.home)).toEqual(["pid"]);
});

test("what a command leaves in the background ends with it and holds nobody up", async () => {
  await using here = await shell();
  const result = await here.run("sleep 1000 & echo $! > pid; echo done");
  expect(result).toMatchObject({ exitCode: 0, stdout: "done\n", timedOut: false });
  const pid = await pidIn(join(here.home, "pid"));
  await eventually(() => !isAlive(pid));
});

test("a process that left the group and keeps the output open is not waited for", async () => {
  await using here = await shell();
  const command =
    "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do :; done; echo done";
  const result = await here.run(command);
  expect(result).toMatchObject({ exitCode: 0, stdout: "done\n", timedOut: false });
  process.kill(await pidIn(join(here.home, "pid")), "SIGKILL");
});

test("a command that a signal ends has no exit code", async () => {
  await using here = await shell();
  expect(await here.run("kill -9 $$")).toMatchObject({ exitCode: null, timedOut: false });
});

test("of much output head and tail are kept, and the command never waits", async () => {
  await using here = await shell();
  const { stdout, stderr, exitCode, truncated } = await here.run(
    "echo first; i=0; while [ $i -lt 400 ]; do printf '%010000d' $i; i=$((i+1)); done; echo last; echo fine >&2",
  );
  expect({ exitCode, stderr, truncated }).toEqual({
    exitCode: 0,
    stderr: "fine\n",
    truncated: true,
  });
  expect(stdout.startsWith("first\n")).toBe(true);
  expect(stdout.endsWith("last\n")).toBe(true);
  expect(stdout).toMatch(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
  expect(stdout.length).toBeLessThan(1_048_576 + 100);
  expect(stdout.length).toBeGreaterThan(1_048_576);
});

test("endless output fills no memory and ends at the timeout", async () => {
  await using here = await shell();
  const before = process.memoryUsage().rss;
  const result = await here.run("yes", { timeoutMs: 2_000 });
  expect(result).toMatchObject({ timedOut: true, truncated: true, exitCode: null });
  expect(result.stdout.length).toBeLessThan(1_048_576 + 100);
  expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
});

test("commands that no system takes are refused with a reason", async () => {
  await using here = await shell();
  await expect(here.run("echo a\0b")).rejects.toSatisfy(InvalidInputError.is);
  await expect(here.run(`: ${"x".repeat(3_000_000)}`)).rejects.toThrow("too long");
});

test("when this process exits in the middle, the command ends too", async () => {
  await using here = await shell();
  const root = join(here.home, "../..");
  await using child = spawnScript(new URL("./children/runner.mjs", import.meta.url), [root]);
  const pid = await pidIn(join(here.home, "pid"));
  expect(isAlive(pid)).toBe(true);
  child.send("exit");
  expect((await child.exited).code).toBe(0);
  await eventually(() => !isAlive(pid));
});
