import type { MigrationReport } from "./migration-report.js";
import type { SessionOutcome } from "./session-outcome.js";

/** An outcome in the shape that `--json` promises. */
export function outcomeJson(outcome: SessionOutcome): object {
  const { kind, slot, reason, summary, source, target } = outcome;
  return {
    outcome: kind,
    slot,
    ...(reason !== undefined && { reason }),
    ...(summary !== undefined && { summary }),
    ...(source !== undefined && { source }),
    ...(target !== undefined && { target }),
  };
}

/** The last line of `--json`. */
export function reportJson(report: MigrationReport, durationMs: number): object {
  const { outcomes, verified, passes, problems, changing, changingSessions, isInterrupted } =
    report;
  return {
    type: "summary",
    outcomes,
    verified,
    passes,
    problems: problems.map(outcomeJson),
    changing,
    changingSessions,
    interrupted: isInterrupted,
    durationMs,
  };
}
