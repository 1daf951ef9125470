import { type ExitCode, exitCodes } from "../exit-code.js";
import type { MigrationReport } from "./migration-report.js";

/**
 * What the report of a run that came to its end means for scripts: something else on the target, or a check that failed, 4; not
 * everything is there (still changing, in use, could not be read), 1.
 *
 * @param hasSkipped - the source could not list everything it has
 */
export function exitCodeOfReport(
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
