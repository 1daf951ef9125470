import { InMemoryFilesystem } from "@holdfast/core";
import type { CommandResult, FileNamespace, ShellCommand } from "@holdfast/core/plugin-kit";
import { tempDirectory } from "@holdfast/testing";
import { LocalFilesystem } from "@holdfast/workspace";
import { expect, test } from "vitest";
import { put, toolBench } from "./tool-bench.js";

test("is there only where commands can be run", () => {
  const names = (bench: ReturnType<typeof toolBench>) => bench.tools.map(({ name }) => name);
  expect(names(toolBench())).not.toContain("execute");
  expect(names(toolBench({ filesystem: new CommandLog() }))).toContain("execute");
});

test("answers with exit code and output, among the user's files", async () => {
  await using directory = await tempDirectory();
  const filesystem = new LocalFilesystem({ root: directory.path, shell: true });
  const bench = toolBench({ filesystem });
  await put(filesystem, "sub/a.txt", "hello");
  const command = "cat a.txt; echo oops >&2; exit 3";
  const failed = await bench.use("execute", { command, working_directory: "sub" });
  expect(failed).toMatchObject({
    isError: true,
    text: "Exit code 3.\nstdout:\nhello\nstderr:\noops\n",
  });
  const quiet = await bench.use("execute", { command: "true" });
  expect(quiet).toMatchObject({ isError: false, text: "Exit code 0.\nNo output." });
  const outside = await bench.use("execute", { command: "true", working_directory: "../.." });
  expect(outside).toMatchObject({ isError: true, text: expect.stringContaining('".."') });
});

test("passes timeouts and the signal on, and says what was cut", async () => {
  const filesystem = new CommandLog();
  const bench = toolBench({ filesystem });
  const { signal } = new AbortController();
  const { text, isError } = await bench.use("execute", { command: "sleep" }, undefined, signal);
  expect([isError, text]).toEqual([
    true,
    "The command was ended after 120000 ms.\nThere was too much output; part of it was left out.\nstdout:\nsome",
  ]);
  await bench.use("execute", { command: "sleep", timeoutMs: 5 });
  expect(filesystem.commands.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, 5]);
  expect(filesystem.commands[0]?.signal).toBe(signal);
});

/** Takes every command and lets each run out of time. */
class CommandLog extends InMemoryFilesystem {
  readonly commands: ShellCommand[] = [];

  async run(_: FileNamespace, command: ShellCommand): Promise<CommandResult> {
    this.commands.push(command);
    return { exitCode: null, stdout: "some", stderr: "", timedOut: true, truncated: true };
  }
}
