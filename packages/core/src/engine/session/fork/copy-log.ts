import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../../json/json.js";
import type { Message } from "../../../message/message.js";
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
/** Most records that are left to the save of the state, where the store saves state and log together. */
const SAVE_RECORDS = 2_000;
/** Records read before other work may run. */
const YIELD_EVERY = 25;

/** Beginning of a fork. */
export interface ForkCopy {
  readonly records: readonly KeptRecord[];
  readonly context: readonly Message[];
  /** Details for the marks of the log. */
  readonly origin: JsonObject;
}

/**
 * Writes where the fork comes from, then the records in batches, each with the ends of its runs, so that none is without. Where
 * the store saves state and log together, and the records are not too many for that, they are left to the save: a message
 * that is in the context as well is then sent and stored once.
 */
export async function copyLog(
  { parts, session, stop }: CallScope,
  from: Slot,
  { records, context, origin }: ForkCopy,
): Promise<void> {
  const { slot, run } = session;
  const append = async (drafts: readonly LogDraft[]): Promise<void> => {
    stop.check();
    if (session.isLeaseInDoubt()) await session.confirmLease();
    if (!session.holdsLease()) throw session.leaseLost();
    const { saveDeadlineMs: deadlineMs } = parts.settings;
    await retryWrite(slot, () => parts.log.append(slot, drafts), { deadlineMs });
  };
  const isSaved = parts.fused.log && batchesOf(records, SAVE_RECORDS).length <= 1;
  const batches = isSaved ? [records] : batchesOf(records, BATCH_RECORDS);
  const write = isSaved ? (drafts: readonly LogDraft[]) => session.log.addCopies(drafts) : append;
  const held = new Map(context.map((message) => [message.id, message]));
  const ends = batches.map((batch, index) => endsOf(batch, `${run.runId}.${index}`, run.runId));
  const details = { ...origin, records: records.length + ends.flat().length };
  const { callId } = run;
  const start = { id: `${run.runId}.fork_start`, callId, at: parts.now().toISOString() };
  const mark = { name: "fork_start", details };
  await write([{ v: 1, ...start, kind: "mark", mark }]);
  for (const [index, batch] of batches.entries()) {
    const drafts: LogDraft[] = [];
    for (const [place, { record }] of batch.entries()) {
      if (place % YIELD_EVERY === 0) await setImmediate();
      const { seq, blobs: _, ...whole } = await withBlobs(parts.log, from, record);
      const draft = { ...whole, ...(whole.message && { message: sameOf(held, whole.message) }) };
      // The id of a repair names the run that made it, which the fork may not have.
      const isRepair = repairerOf(record) !== undefined;
      drafts.push(isRepair ? { ...draft, id: `${runIdOf(record)}.fork.${seq}` } : draft);
    }
    await write([...drafts, ...(ends[index] ?? [])]);
  }
}

/** Returns the message of the context that is the same, if there is one. */
function sameOf(context: ReadonlyMap<string, Message>, message: Message): Message {
  const held = context.get(message.id);
  return held && JSON.stringify(held) === JSON.stringify(message) ? held : message;
}

function batchesOf(records: readonly KeptRecord[], maxRecords: number): readonly KeptRecord[][] {
  const batches: KeptRecord[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const one of records) {
    const { message, mark, blobs = [] } = one.record;
    const written = JSON.stringify(message ?? mark).length;
    const size = blobs.reduce((sum, { bytes }) => sum + bytes, written);
    chars += size;
    const last = batches.at(-1);
    if (last && last.length < maxRecords && chars <= BATCH_CHARS) last.push(one);
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
