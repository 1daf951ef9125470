import { LruMap } from "./io/lru-map.js";

/** Problems that a store noticed and worked around. */
export type StoreReportKind =
  /** A record that a crash or a full disk cut short; it was never acknowledged, and is skipped. */
  | "torn_record"
  /** An acknowledged save is safe, but shortening the journal afterwards failed; the next save tries again. */
  | "rotation_failed"
  /** Leftover files could not be removed. */
  | "cleanup_failed"
  /** A file or directory does not hold what its path says; listings and searches skip it. */
  | "entry_skipped";

/** Passed to `onReport`. Never holds contents of a state, a log or a value. */
export interface StoreReport {
  readonly kind: StoreReportKind;
  /** One sentence for a person. */
  readonly message: string;
  /** The error behind it, where there was one. */
  readonly cause?: unknown;
}

/** Receives reports; what it throws is ignored. */
export type ReportSink = (report: StoreReport) => void;

/** Torn records remembered as reported. */
const REPORTED_KEPT = 1_000;

/** Wraps a sink so that it may be absent or throw, and hears of each torn record once. */
export function safeReport(sink: ReportSink | undefined): ReportSink {
  const reported = new LruMap<string, true>(REPORTED_KEPT);
  return (report) => {
    if (report.kind === "torn_record") {
      if (reported.get(report.message)) return;
      reported.set(report.message, true);
    }
    try {
      sink?.(report);
    } catch {
      // A broken listener must not turn a good save into a failed one.
    }
  };
}
