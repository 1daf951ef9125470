import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { type Tool, toolResult } from "@holdfast/core";
import { checkDirectoryPath, safeTool, timeLimit } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { EditorClient } from "./editor-client.js";

/** Parts of the terminal tool. */
export interface TerminalToolParts {
  readonly client: EditorClient;
  readonly sessionId: string;
  /** Directory in which commands run; absolute. */
  readonly cwd: string;
  /** Time limit of requests that need no person and no command to end. */
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 65_536;

const input = s.object({
  command: s.string().min(1).describe("Command line for sh -c"),
  working_directory: s
    .string()
    .optional()
    .describe("Relative to the project; the project itself by default"),
  timeoutMs: s
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(`Timeout of the command; ${DEFAULT_TIMEOUT_MS} by default`),
});

/**
 * Creates the tool `execute`, which runs a command in a terminal of the editor, where the person sees it. Its calls are judged
 * by the agent's permissions, as commands.
 */
export function terminalTool(parts: TerminalToolParts): Tool {
  const { client, sessionId, cwd, timeoutMs: requestMs } = parts;
  return safeTool({
    name: "execute",
    description:
      "Runs a shell command in a terminal of the editor and returns its exit code and output.",
    input,
    permission: {
      subject: ({ command, working_directory: directory }) => ({
        ...{ kind: "command", value: command, directory },
      }),
    },
    // Later than the command's own timeout, which leaves a result that says so.
    timeoutMs: MAX_TIMEOUT_MS + 60_000,
    async run({ command, working_directory: directory = "", timeoutMs }, ctx, signal) {
      const limitMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const { terminalId } = await client.request(
        methods.client.terminal.create,
        {
          sessionId,
          command: "sh",
          args: ["-c", command],
          cwd: join(cwd, checkDirectoryPath(directory)),
          outputByteLimit: MAX_OUTPUT_BYTES,
        },
        { timeoutMs: requestMs, signal },
      );
      const terminal = { sessionId, terminalId };
      // The tool call shows the terminal from now on; see `ToolCalls`.
      ctx.progress({ terminalId });
      try {
        const isOver = await hasEnded(client, terminal, limitMs, signal);
        if (!isOver)
          await client.request(methods.client.terminal.kill, terminal, { timeoutMs: requestMs });
        signal.throwIfAborted();
        const shown = await client.request(methods.client.terminal.output, terminal, {
          timeoutMs: requestMs,
          signal,
        });
        const { exitCode } = shown.exitStatus ?? {};
        return toolResult({
          output: report({ ...shown, isOver, limitMs }),
          state: isOver && exitCode === 0 ? "success" : "error",
        });
      } finally {
        await client
          .request(methods.client.terminal.release, terminal, { timeoutMs: requestMs })
          .catch(() => undefined);
      }
    },
  });
}

/** Waits for the end of a command; resolves to false when it takes too long or is to be stopped. */
async function hasEnded(
  client: EditorClient,
  terminal: { readonly sessionId: string; readonly terminalId: string },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  using limit = timeLimit(timeoutMs, { stops: [signal] });
  try {
    await client.request(methods.client.terminal.waitForExit, terminal, {
      timeoutMs: MAX_TIMEOUT_MS + 30_000,
      signal: limit.signal,
    });
    return true;
  } catch (error) {
    if (limit.signal.aborted) return false;
    throw error;
  }
}

function report(shown: {
  readonly output: string;
  readonly truncated: boolean;
  readonly exitStatus?: { exitCode?: number | null; signal?: string | null } | null;
  readonly isOver: boolean;
  readonly limitMs: number;
}): string {
  const { exitCode, signal } = shown.exitStatus ?? {};
  const end = !shown.isOver
    ? `The command was ended after ${shown.limitMs} ms.`
    : typeof exitCode === "number"
      ? `Exit code ${exitCode}.`
      : `The command was ended by ${signal ?? "a signal"}.`;
  const cut = shown.truncated ? ["There was too much output; the beginning was left out."] : [];
  return [end, ...cut, shown.output === "" ? "No output." : shown.output].join("\n");
}
