import { randomBytes } from "node:crypto";
import type { EventFeed, Slot } from "@holdfast/core";
import type { FeedBatch, StoredBatch } from "@holdfast/core/store-kit";
import type { CaseBody, ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";

/** Makes a case of an event feed. */
export type FeedCase = (title: string, body: CaseBody<EventFeed>) => ConformanceCase;

/** A batch of run "r"; one event unless more are asked for. */
export function batch(fields: Partial<FeedBatch>): FeedBatch {
  return { runId: "r", count: 1, body: "[]", ends: false, ...fields };
}

/** A text that cannot be compressed to less than half. */
export function noise(chars: number): string {
  return randomBytes(chars / 2).toString("hex");
}

/** Reads page after page from a position on, as readers do. */
export async function readAll(
  feed: EventFeed,
  callId = "c",
  after = -1,
  where: Slot = slot,
): Promise<StoredBatch[]> {
  const found: StoredBatch[] = [];
  for (let at = after; ; ) {
    const page = await feed.read(where, callId, at);
    if (!page || page.batches.length === 0) return found;
    found.push(...page.batches);
    const { first, count } = page.batches.at(-1) as StoredBatch;
    at = first + count - 1;
  }
}
