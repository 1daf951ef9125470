import assert from "node:assert/strict";
import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";
import type {
  CaseBody,
  ConformanceCase,
  ReopenableOptions,
} from "../conformance/conformance-case.js";

/** Options of {@link describeConversationLog}. */
export interface ConversationLogOptions extends ReopenableOptions<ConversationLog> {
  /** Takes the backend away, as an outage would; every method must then fail, and within `timeoutMs`. */
  breakBackend?(log: ConversationLog): void | Promise<void>;
  /**
   * A fresh, empty log whose searches run out of time at once, which shows that they have a limit. Not cleaned up: it shares its
   * resources with those of `create`.
   */
  createLimited?(): ConversationLog | Promise<ConversationLog>;
}

/** Makes one case about a log. */
export type LogCase = (title: string, body: CaseBody<ConversationLog>) => ConformanceCase;

/** The ids of the newest records of a slot, oldest first. */
export async function recordIds(log: ConversationLog, slot: Slot): Promise<string[]> {
  return (await log.read(slot, { limit: 1_000 })).map(({ id }) => id);
}

/** Fails unless these are exactly the records that were appended, with rising seqs. */
export function assertRecords(actual: readonly LogRecord[], expected: readonly LogDraft[]): void {
  assert.equal(actual.length, expected.length, "number of records");
  for (const [index, record] of actual.entries()) {
    const { seq, ...draft } = JSON.parse(JSON.stringify(record));
    assert.deepStrictEqual(draft, expected[index], `record ${index} came back changed`);
    assert.ok(Number.isSafeInteger(seq), "seq is a whole number");
    const before = actual[index - 1];
    if (before !== undefined) assert.ok(before.seq < seq, "seq rises strictly");
  }
}
