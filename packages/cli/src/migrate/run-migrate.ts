import { stat } from "node:fs/promises";
import { join } from "node:path";
import { checkId } from "@holdfast/core/store-kit";
import type { StoreReport } from "@holdfast/store-json";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, type ExitCode, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { Migration, type MigrationMode } from "./migration.js";
import type { MigrationReport } from "./migration-report.js";
import { MigrationView } from "./migration-view.js";
import { type MigrateFlags, openPair } from "./open-pair.js";
import { stopOnSignal } from "./stop-on-signal.js";
import { isOutage } from "./with-retries.js";

const AGAIN =
  "Run the same command again to continue; sessions that are there are not copied again.";

const verbs = { copy: "copying", "dry-run": "would copy", verify: "comparing" };

/**
 * Runs the `migrate` command.
 *
 * @throws CommandError with the exit code of the report
 */
export async function runMigrate(terminal: Terminal, flags: MigrateFlags): Promise<void> {
  const { agent, user, anonymous } = flags;
  if (agent !== undefined) checkId(agent, "--agent");
  if (user !== undefined) checkId(user, "--user");
  const view = new MigrationView(terminal);
  const reports = new SourceReports((text) => view.note(text));
  // Once: a config file may open connections.
  let config: Promise<LoadedConfig | null> | undefined;
  const configOnce = (): Promise<LoadedConfig | null> => {
    config ??= loadConfig(terminal, flags.config);
    return config;
  };
  const pair = await openPair(flags, (report) => reports.take(report), configOnce);
  const stop = stopOnSignal(() => view.note("Stopping after the sessions in progress…"));
  try {
    if (await lacksLog(pair.sourceRoot, flags)) view.note(noLogText(flags));
    if (!terminal.isJson) terminal.line(`${verbs[modeOf(flags)]} ${pair.from} → ${pair.to}`);
    const migration = new Migration(pair, {
      filter: { agentId: agent, userId: anonymous ? null : user },
      concurrency: flags.concurrency,
      passes: flags.passes,
      mode: modeOf(flags),
      busyWaitMs: 1_000 * flags.wait,
      signal: stop.signal,
      onEvent: (event) => view.show(event),
    });
    const report = await migration.run();
    view.end(report, adviceFor(report));
    const code = report.isInterrupted
      ? stop.exitCode
      : exitCodeOfReport(report, flags.verifyOnly === true, reports.hasSkipped);
    // The report is printed already.
    if (code !== exitCodes.ok) throw new CommandError(code, "");
  } catch (error) {
    if (isOutage(error)) view.note(AGAIN);
    throw error;
  } finally {
    view.stop();
    await pair.close();
    // At the very end: a closed pipe must not end the command with 0 before the last line is written.
    stop.end();
  }
}

function modeOf({ dryRun, verifyOnly }: MigrateFlags): MigrationMode {
  if (verifyOnly) return "verify";
  return dryRun ? "dry-run" : "copy";
}

/** Returns whether a file store has its log elsewhere, or none. */
async function lacksLog(
  root: string | undefined,
  { fromWorkspace }: MigrateFlags,
): Promise<boolean> {
  if (root === undefined) return false;
  const log = fromWorkspace ?? join(root, "@log");
  // Logs of users, and of anonymous sessions.
  const found = await Promise.all(
    ["users", "sessions"].map((name) => stat(join(log, name)).catch(() => undefined)),
  );
  return found.every((directory) => directory === undefined);
}

function noLogText({ fromWorkspace }: MigrateFlags): string {
  return fromWorkspace === undefined
    ? "The source has no log beside its states. Where agents keep theirs in a workspace, name that with --from-workspace."
    : `There is no log in ${fromWorkspace}: see that --from-workspace names the workspace of the agents.`;
}

function adviceFor({ isInterrupted, outcomes, changingSessions }: MigrationReport): string {
  if (isInterrupted || outcomes.busy > 0) return AGAIN;
  if (changingSessions > 0)
    return "Stop the agents that use the source, then run the same command again for the rest.";
  if (outcomes.conflict > 0)
    return "Sessions in conflict were left alone: delete them on the target if the source's are the right ones, and run again.";
  return "";
}

/**
 * Returns the exit code of a run that was not stopped: 4 for a conflict or a failed check, 1 when not everything is on the
 * target (still changing, in use, unreadable).
 *
 * @param hasSkipped - the source could not list all its sessions
 */
function exitCodeOfReport(
  { outcomes, changingSessions }: MigrationReport,
  isVerifyOnly: boolean,
  hasSkipped: boolean,
): ExitCode {
  const isDifferent = outcomes.conflict > 0 || outcomes.mismatch > 0;
  const isBehind = isVerifyOnly && (outcomes.missing > 0 || outcomes.behind > 0);
  if (isDifferent || isBehind) return exitCodes.conflict;
  const isPartial = outcomes.busy > 0 || outcomes.failed > 0 || changingSessions > 0 || hasSkipped;
  return isPartial ? exitCodes.failed : exitCodes.ok;
}

/** Reports that are printed at most. */
const MOST_SHOWN = 100;

/** Prints each file that a JSON source skips, once: what is not reported would be lost with the source. */
class SourceReports {
  readonly #show: (text: string) => void;
  readonly #shown = new Set<string>();
  #hasSkipped = false;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  /** There may be sessions that could not be listed. */
  get hasSkipped(): boolean {
    return this.#hasSkipped;
  }

  take({ kind, message }: StoreReport): void {
    if (kind === "entry_skipped") this.#hasSkipped = true;
    if (this.#shown.size >= MOST_SHOWN || this.#shown.has(message)) return;
    this.#shown.add(message);
    this.#show(`The source: ${message}`);
  }
}
