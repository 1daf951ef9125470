import { Command, InvalidArgumentError, Option } from "commander";
import type { Terminal } from "../terminal/terminal.js";

/** Creates `holdfast migrate`, which copies every session from one store to another while both are in use. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command("migrate")
    .description("Copy every session to another store: live, resumable, verified by count and hash")
    .requiredOption("--from <url>", "the store to copy from; it is only read")
    .requiredOption("--to <url>", "the store to copy to; `config` is the store of the config file")
    .option("--config <file>", "config file with the store, or with stores for other URLs")
    .option("--from-workspace <directory>", "workspace with the log of a json: source")
    .option("--to-workspace <directory>", "workspace with the log of a json: target")
    .option("--agent <id>", "only this agent's sessions")
    .option("--user <id>", "only this user's sessions")
    .addOption(new Option("--anonymous", "only sessions without a user").conflicts("user"))
    .option("--concurrency <n>", "sessions copied at the same time", wholeNumber(1, 64), 8)
    .option("--passes <n>", "passes over sessions that changed, at most", wholeNumber(1, 1_000), 5)
    .option(
      "--wait <seconds>",
      "time to wait for sessions in use on the target",
      wholeNumber(0, 3_600),
      30,
    )
    .addOption(new Option("--dry-run", "print what would be done").conflicts("verifyOnly"))
    .option("--verify-only", "compare the two stores completely and copy nothing")
    .option("--json", "events as NDJSON on stdout, the summary last")
    .action(async (flags) => {
      const { runMigrate } = await import("../migrate/run-migrate.js");
      await runMigrate(terminal, flags);
    });
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/u.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
