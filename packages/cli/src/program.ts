import { readFileSync } from "node:fs";
import { Command } from "commander";
import { chatCommand } from "./commands/chat.js";
import { demoCommand } from "./commands/demo.js";
import { doctorCommand } from "./commands/doctor.js";
import { migrateCommand } from "./commands/migrate.js";
import { sessionsCommand } from "./commands/sessions.js";
import { safeText } from "./terminal/safe-text.js";
import type { Terminal } from "./terminal/terminal.js";

/**
 * The command line. What a command needs is imported when it runs: `--help` is to be quick.
 *
 * An error of usage rejects with commander's `CommanderError`.
 */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("holdfast")
    .description("Keeps long-running agents alive: talk to one, and look after its sessions.")
    .version(packageVersion(), "-V, --version")
    .showHelpAfterError("(--help shows what there is)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(safeText(text)),
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
      getOutHasColors: () => terminal.colors.isColorSupported,
      getErrHasColors: () => terminal.colors.isColorSupported,
    });
  for (const command of [demoCommand, chatCommand, sessionsCommand, migrateCommand, doctorCommand])
    program.addCommand(inherit(command(terminal), program));
  return program;
}

/** Settings reach only commands made with `.command()`; ours are made elsewhere. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
  return command;
}

function packageVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
