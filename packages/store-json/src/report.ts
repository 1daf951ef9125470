import { LruMap } from "./io/lru-map.js";

/** What a store noticed on its way and worked around. */
export type StoreReportKind =
  /** A record that a crash or a full disk cut short; it was never acknowledged, and is skipped. */
  | "torn_record"
  /** An acknowledged save is safe, but shortening the journal afterwards failed; the next save tries again. */
  | "rotation_failed"
  /** Something left over could not be removed. */
  | "cleanup_failed"
  /** A file or directory that is not what its place says; listings and searches pass over it. */
  | "entry_skipped";

/** Told to `onReport`. Never holds contents of a state, a log or a value. */
export interface StoreReport {
  readonly kind: StoreReportKind;
  /** One sentence for a person. */
  readonly message: string;
  /** The error behind it, where there was one. */
  readonly cause?: unknown;
}

/** Receives reports; what it throws is ignored. */
export type ReportSink = (report: StoreReport) => void;

/** How many torn records are remembered as reported. */
const TOLD_KEPT = 1_000;

/** A sink that can be called without care: absent or throwing ones do no harm, a torn record is reported once. */
export function safeReport(sink: ReportSink | undefined): ReportSink {
  const told = new LruMap<string, true>(TOLD_KEPT);
  return (report) => {
    if (report.kind === "torn_record") {
      if (told.get(report.message)) return;
      told.set(report.message, true);
    }
    try {
      sink?.(report);
    } catch {
      // A broken listener must not turn a good save into a failed one.
    }
  };
}
