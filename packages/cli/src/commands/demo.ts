import { Command, InvalidArgumentError } from "commander";
import { defaultTurns, leastTurns, mostTurns } from "../demo/story.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";

interface DemoFlags {
  readonly turns: number;
  readonly keep?: boolean;
}

/** `holdfast demo`: a long session, offline, with a kill -9 in the middle, and what it came to in numbers. */
export function demoCommand(terminal: Terminal): Command {
  return new Command("demo")
    .description(
      "Play a long coding session offline: compaction, eviction, memory, a kill -9 and the resume.",
    )
    .option("--turns <number>", "how many turns the session has", readTurns, defaultTurns)
    .option("--keep", "leave the files of the session in the temporary directory")
    .option("--json", "print the numbers as one JSON document")
    .action((flags: DemoFlags) => demo(terminal, flags));
}

async function demo(terminal: Terminal, { turns, keep = false }: DemoFlags): Promise<void> {
  const { runDemo } = await import("../demo/run-demo.js");
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void =>
    stop.abort(
      new CommandError(name === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated, ""),
    );
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  // Not once: the second Ctrl-C of somebody impatient would end the program before its files are removed.
  for (const name of signals) process.on(name, onSignal);
  try {
    const { problems } = await runDemo({ turns, keep, terminal, signal: stop.signal });
    if (problems.length > 0)
      throw new CommandError(
        exitCodes.failed,
        `a promise was not kept:\n- ${problems.join("\n- ")}`,
      );
  } finally {
    for (const name of signals) process.removeListener(name, onSignal);
  }
}

function readTurns(value: string): number {
  const turns = Number(value);
  if (Number.isInteger(turns) && turns >= leastTurns && turns <= mostTurns) return turns;
  throw new InvalidArgumentError(`a whole number from ${leastTurns} to ${mostTurns} is needed.`);
}
