import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { acpCommand } from "./commands/acp.js";
import { chatCommand } from "./commands/chat.js";
import { demoCommand } from "./commands/demo.js";
import { doctorCommand } from "./commands/doctor.js";
import { migrateCommand } from "./commands/migrate.js";
import { runCommand } from "./commands/run.js";
import { sessionsCommand } from "./commands/sessions.js";
import {
  CommandError,
  type ExitCode,
  errorText,
  exitCodeOf,
  exitCodes,
  isHoldfastError,
} from "./exit-code.js";
import { safeText } from "./terminal/safe-text.js";
import type { Terminal } from "./terminal/terminal.js";

/**
 * Runs a command and prints its error. A command exits with a code other than 0 by throwing a `CommandError`.
 *
 * @param argv - the arguments behind the command's name
 */
export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    await createProgram(terminal).parseAsync(argv, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    // Commander has written its message already; help and version end with 0.
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    report(error, terminal);
    return exitCodeOf(error);
  }
}

function report(error: unknown, terminal: Terminal): void {
  const message = errorText(error, terminal.env);
  if (message !== "") terminal.warn(`holdfast: ${message}`);
  // An unexpected error is a defect; its stack helps to find it.
  const isExpected = CommandError.is(error) || isHoldfastError(error);
  if (!isExpected && error instanceof Error && terminal.env["HOLDFAST_DEBUG"])
    terminal.warn(error.stack ?? "");
}

/**
 * Creates the command line. Each command imports its implementation when it runs, so that `--help` stays fast.
 *
 * A usage error rejects with commander's `CommanderError`.
 */
function createProgram(terminal: Terminal): Command {
  const program = new Command("holdfast")
    .description("Keeps long-running agents alive: talk to one, and manage its sessions.")
    .version(packageVersion(), "-V, --version")
    .showHelpAfterError("(--help lists the commands and options)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(safeText(text)),
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      getOutHasColors: () => terminal.colors.isColorSupported,
      getErrHasColors: () => terminal.colors.isColorSupported,
    });
  const all = [
    ...[demoCommand, chatCommand, runCommand, acpCommand],
    ...[sessionsCommand, migrateCommand, doctorCommand],
  ];
  for (const command of all) program.addCommand(inherit(command(terminal), program));
  return program;
}

/** Applies the settings, which commander passes only to commands created with `.command()`. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
  return command;
}

function packageVersion(): string {
  const file = new URL(import.meta.resolve("@holdfast/cli/package.json"));
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
