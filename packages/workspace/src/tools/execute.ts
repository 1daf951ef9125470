import { type Filesystem, type Tool, toolResult } from "@holdfast/core";
import { type CommandResult, failedResult } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { FileToolFactory } from "./file-tool.js";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

const input = s.object({
  command: s.string().min(1).describe("Command line for sh -c"),
  working_directory: s
    .string()
    .optional()
    .describe("Relative to the workspace; the workspace itself by default"),
  timeoutMs: s
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(`Timeout of the command; ${DEFAULT_TIMEOUT_MS} by default`),
});

/** Creates the tool `execute`, for filesystems that can run commands. */
export function executeTool(fileTool: FileToolFactory, filesystem: Filesystem): Tool {
  return fileTool({
    name: "execute",
    description: "Runs a shell command in the workspace and returns its exit code and output.",
    input,
    permission: {
      subject: ({ command, working_directory: directory }) => ({
        ...{ kind: "command", value: command, directory },
      }),
    },
    // Later than the command's own timeout, which leaves a result that says so.
    timeoutMs: MAX_TIMEOUT_MS + 30_000,
    async run(request, { namespace, signal }) {
      if (filesystem.run === undefined)
        return failedResult(
          `A ${filesystem.kind} filesystem cannot run commands; use the file tools.`,
        );
      const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const result = await filesystem.run(namespace, {
        command: request.command,
        workingDirectory: request.working_directory,
        timeoutMs,
        signal,
      });
      return toolResult({
        output: report(result, timeoutMs),
        state: result.exitCode === 0 ? "success" : "error",
      });
    },
  });
}

function report(result: CommandResult, timeoutMs: number): string {
  const { exitCode, stdout, stderr, timedOut, truncated } = result;
  const lines = [
    timedOut
      ? `The command was ended after ${timeoutMs} ms.`
      : exitCode === null
        ? "The command was ended by a signal."
        : `Exit code ${exitCode}.`,
  ];
  if (truncated) lines.push("There was too much output; part of it was left out.");
  if (stdout === "" && stderr === "") lines.push("No output.");
  if (stdout !== "") lines.push(`stdout:\n${stdout}`);
  if (stderr !== "") lines.push(`stderr:\n${stderr}`);
  return lines.join("\n");
}
