import { Command, InvalidArgumentError, Option } from "commander";
import type { Terminal } from "../terminal/terminal.js";

/** `holdfast migrate`: every session from one store to another, while both are in use. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command("migrate")
    .description("Copy every session to another store: live, resumable, verified by count and hash")
    .requiredOption("--from <url>", "the store to copy from; it is only read")
    .requiredOption("--to <url>", "the store to copy to")
    .option("--from-workspace <directory>", "where agents on json: keep their log, if not there")
    .option("--to-workspace <directory>", "the same for the target")
    .option("--agent <id>", "only this agent's sessions")
    .option("--user <id>", "only this user's sessions")
    .addOption(new Option("--anonymous", "only sessions without a user").conflicts("user"))
    .option("--concurrency <n>", "sessions worked on at a time", wholeNumber(1, 64), 8)
    .option("--passes <n>", "at most this many rounds after what changes", wholeNumber(1, 1_000), 5)
    .option("--wait <seconds>", "for sessions in use on the target", wholeNumber(0, 3_600), 30)
    .addOption(new Option("--dry-run", "say what would be done").conflicts("verifyOnly"))
    .option("--verify-only", "compare the two stores whole, and copy nothing")
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
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}
