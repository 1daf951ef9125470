import type { DemoTerminal } from "@holdfast/demo";
import { Command } from "commander";
import { CommandError, exitCodes } from "../exit-code.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";

interface DemoFlags {
  readonly turns?: number;
  readonly keep?: boolean;
}

/** Creates `holdfast demo`: a long session, offline, with a kill -9 in the middle, and its figures. */
export function demoCommand(terminal: Terminal): Command {
  return new Command("demo")
    .description(
      "Run a long coding session offline: compaction, eviction, memory, a kill -9 and the resume",
    )
    .option("--turns <number>", "turns of the session, 60 to 5000 (default: 200)", Number)
    .option("--keep", "leave the files of the session in the temporary directory")
    .option("--json", "print the figures as one JSON document")
    .action((flags: DemoFlags) => demo(terminal, flags));
}

async function demo(terminal: Terminal, { turns, keep }: DemoFlags): Promise<void> {
  const { runDemo } = await import("@holdfast/demo");
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void =>
    stop.abort(
      new CommandError(name === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated, ""),
    );
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  // Not `once`: a second Ctrl-C would end the program before its files are removed.
  for (const name of signals) process.on(name, onSignal);
  try {
    const { problems } = await runDemo({
      ...{ turns, keep, signal: stop.signal },
      terminal: demoTerminal(terminal),
    });
    if (problems.length > 0)
      throw new CommandError(
        exitCodes.failed,
        `a promise was not kept:\n- ${problems.join("\n- ")}`,
      );
  } finally {
    for (const name of signals) process.removeListener(name, onSignal);
  }
}

function demoTerminal(terminal: Terminal): DemoTerminal {
  return {
    ...terminal,
    safeLine,
    // The window may be resized.
    get columns() {
      return terminal.columns;
    },
  };
}
