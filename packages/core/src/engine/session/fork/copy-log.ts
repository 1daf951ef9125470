import type { JsonObject } from "../../../json/json.js";
import type { LogDraft } from "../../../ports/conversation-log.js";
import type { Slot } from "../../../slot/slot.js";
import { repairerOf, runIdOf } from "../../../store-kit/log/outcome-signs.js";
import { withBlobs } from "../../../store-kit/log/with-blobs.js";
import { retryWrite } from "../../../store-kit/save-with-retry.js";
import type { CallScope } from "../../call-scope.js";
import { hasRun, type KeptRecord } from "./fork-source.js";

/** Records and characters appended at a time. */
const BATCH_RECORDS = 50;
const BATCH_CHARS = 1_000_000;

/** Writes where the fork comes from, then the records in batches, each with the ends of its runs, so that none is without. */
export async function copyLog(
  { parts, session, stop }: CallScope,
  from: Slot,
  records: readonly KeptRecord[],
  origin: JsonObject,
): Promise<void> {
  const { slot, run } = session;
  const append = async (drafts: readonly LogDraft[]): Promise<void> => {
    stop.check();
    await session.settleLease();
    if (!session.holdsLease()) throw session.leaseLost();
    const { saveDeadlineMs: deadlineMs } = parts.settings;
    await retryWrite(slot, () => parts.log.append(slot, drafts), { deadlineMs });
  };
  const batches = batchesOf(records);
  const ends = batches.map((batch, index) => endsOf(batch, `${run.runId}.${index}`, run.runId));
  const details = { ...origin, records: records.length + ends.flat().length };
  const { callId } = run;
  const start = { id: `${run.runId}.fork_start`, callId, at: parts.now().toISOString() };
  const mark = { name: "fork_start", details };
  await append([{ v: 1, ...start, kind: "mark", mark }]);
  for (const [index, batch] of batches.entries()) {
    const drafts: LogDraft[] = [];
    for (const { record } of batch) {
      const { seq, blobs: _, ...draft } = await withBlobs(parts.log, from, record);
      // The id of a repair names the run that made it, which the fork may not have.
      const isRepair = repairerOf(record) !== undefined;
      drafts.push(isRepair ? { ...draft, id: `${runIdOf(record)}.fork.${seq}` } : draft);
    }
    await append([...drafts, ...(ends[index] ?? [])]);
  }
}

function batchesOf(records: readonly KeptRecord[]): readonly KeptRecord[][] {
  const batches: KeptRecord[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const one of records) {
    const { message, mark, blobs = [] } = one.record;
    const written = JSON.stringify(message ?? mark).length;
    const size = blobs.reduce((sum, { bytes }) => sum + bytes, written);
    chars += size;
    const last = batches.at(-1);
    if (last && last.length < BATCH_RECORDS && chars <= BATCH_CHARS) last.push(one);
    else {
      batches.push([one]);
      chars = size;
    }
  }
  return batches;
}

/** Returns an end for each run that has records in a batch. */
function endsOf(batch: readonly KeptRecord[], name: string, to: string): readonly LogDraft[] {
  const last = new Map(batch.map((one) => [runIdOf(one.record), one]));
  return [...last].map(([run, { record, outcome }]) => {
    const end = `end.${outcome}.${name}`;
    // A record of another writer has its call in place of a run.
    const id = hasRun(record) ? `${run}.${end}` : `fork.${end}.${record.seq}`;
    const mark = { name: "call_end", outcome, details: { to } };
    return { v: 1, id, callId: record.callId, at: record.at, kind: "mark", mark };
  });
}
