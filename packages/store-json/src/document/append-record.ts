import { StoreUnavailableError } from "@holdfast/core";
import { unavailable, unknownOutcome } from "../io/io-error.js";
import { statOpen, writeOpen } from "../io/open-file.js";
import type { ReportSink } from "../report.js";
import { type ChainStep, follow, settle, type Verdict } from "./chain.js";
import type { OpenJournal } from "./open-journal.js";
import type { Place } from "./place.js";
import { advance, markRevision } from "./position.js";
import type { JournalRecord } from "./record.js";

/** A record to append: its line, and its step for a chain that does not read it back. */
export interface Addition {
  readonly line: Buffer;
  readonly step: ChainStep;
  /** Applies its head, once it is accepted. */
  readonly applyHead?: (() => void) | undefined;
}

/**
 * Appends a record with one write and finds out whether it counts.
 *
 * Node has no file locks. Appends of several processes come one after the other in the file, so each of them reads on
 * from where it was to its own record, and all agree on which record was the first to follow a revision.
 *
 * @returns the verdict on the record, which is not durable yet
 * @throws StoreUnavailableError when it was not written, UnknownOutcomeError when that cannot be told
 */
export async function appendRecord(
  place: Place,
  journal: OpenJournal,
  addition: Addition,
  report: ReportSink,
): Promise<"accepted" | "lost"> {
  await writeLine(place, journal, addition.line);
  try {
    return await verdictOn(place, journal, addition, report);
  } catch (error) {
    throw unknownOutcome(`saving ${place.label}`, error);
  }
}

async function writeLine(place: Place, { handle }: OpenJournal, line: Buffer): Promise<void> {
  let written: number;
  try {
    written = await writeOpen(handle, line);
  } catch (error) {
    throw unavailable(`save ${place.label}`, error);
  }
  // A record counts without its line end too.
  if (written >= line.length - 1) return;
  throw new StoreUnavailableError(
    `the disk took ${written} of ${line.length} bytes when saving ${place.label}: it is full; nothing was changed: make room and try again`,
  );
}

async function verdictOn(
  place: Place,
  { position, handle, size: before }: OpenJournal,
  { line, step, applyHead }: Addition,
  report: ReportSink,
): Promise<"accepted" | "lost"> {
  const { size, ctimeNs } = statOpen(handle);
  const to = Number(size);
  position.changedNs = ctimeNs;
  if (before === position.offset && to === before + line.length) {
    // No other process wrote in between: the record is the only new one.
    position.offset = to;
    const verdict = follow(position.chain, step);
    if (verdict === "accepted") {
      applyHead?.();
      markRevision(position, to);
    }
    settle(position.chain);
    return verdict === "accepted" ? "accepted" : "lost";
  }
  let own: Verdict | undefined;
  await advance(place, position, handle, to, report, (record, verdict) => {
    if (record.op === step.op && revOf(record) === revOf(step)) own = verdict;
  });
  if (own === undefined) throw new Error("the record is not where it was written");
  return own === "accepted" ? "accepted" : "lost";
}

function revOf(record: JournalRecord | ChainStep): string | undefined {
  return record.kind === "save" ? record.rev : undefined;
}
