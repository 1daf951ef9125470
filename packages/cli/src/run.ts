import { CommanderError } from "commander";
import {
  CommandError,
  type ExitCode,
  exitCodeOf,
  exitCodes,
  isHoldfastError,
} from "./exit-code.js";
import { createProgram } from "./program.js";
import { errorText } from "./terminal/error-text.js";
import type { Terminal } from "./terminal/terminal.js";

/**
 * Runs a command to its end and says what failed. A command ends with another code than 0 by throwing a `CommandError`.
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
  // An error that nobody foresaw is a defect, and its stack helps to find it.
  const isForeseen = CommandError.is(error) || isHoldfastError(error);
  if (!isForeseen && error instanceof Error && terminal.env["HOLDFAST_DEBUG"])
    terminal.warn(error.stack ?? "");
}
