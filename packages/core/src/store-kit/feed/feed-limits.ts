import { parseOptions } from "../../plugin-kit/parse-options.js";
import * as s from "../../plugin-kit/schema/index.js";
import type { FeedBatch, StoredBatch } from "../../ports/event-feed.js";

/** Bounds of the feeds of calls. */
export interface FeedLimits {
  /** Time for which the feed of a call that has ended is kept. @default 300_000 (5 minutes) */
  readonly keepMs?: number | undefined;
  /** Time after its last batch for which the feed of a call that never ended is kept. @default 86_400_000 (a day) */
  readonly openMs?: number | undefined;
  /** Characters of one call's feed past which its oldest batches are dropped. @default 4_194_304 */
  readonly maxChars?: number | undefined;
}

/** Characters of the batches of one page, approximately. */
export const FEED_PAGE_CHARS = 262_144;

const limitsSchema = s.strictObject({
  keepMs: s.int().positive().default(300_000),
  openMs: s.int().positive().default(86_400_000),
  maxChars: s.int().positive().default(4_194_304),
});

/** Fills in the defaults of limits. @throws ConfigurationError */
export function feedLimits(limits: FeedLimits, where: string): Required<NumbersOf<FeedLimits>> {
  return parseOptions(limitsSchema, limits, where);
}

type NumbersOf<T> = { readonly [K in keyof T]: number };

/** State of a call's feed besides its batches. */
export interface FeedHead {
  /** Run that the feed belongs to. */
  readonly runId: string;
  /** Number of that run's first event. */
  readonly runFirst: number;
  /** Number of the last event. */
  readonly last: number;
  readonly ended: boolean;
}

/** Outcome of a batch: the number of its first event, null when it is refused, and the head after it, absent when unchanged. */
export interface FeedStep {
  readonly first: number | null;
  readonly head?: FeedHead | undefined;
}

/** Decides what becomes of a batch: the rules of {@link EventFeed.append}, for feeds that apply them in this process. */
export function feedStep(head: FeedHead | undefined, batch: FeedBatch): FeedStep {
  const { runId, count, ends } = batch;
  const isOwn = head?.runId === runId;
  if (batch.first === undefined && isOwn) return { first: head.runFirst };
  if (batch.first !== undefined && head && !isOwn) return { first: null };
  const first = batch.first ?? (head ? head.last + 1 : 0);
  if (isOwn && first <= head.last) return { first };
  const runFirst = isOwn ? head.runFirst : first;
  return { first, head: { runId, runFirst, last: first + count - 1, ended: ends } };
}

/** Returns the batches of one page: as many as fit, but one at least. */
export function pageOf<T extends Pick<StoredBatch, "body">>(batches: readonly T[]): readonly T[] {
  let chars = 0;
  const end = batches.findIndex(({ body }, at) => {
    chars += body.length;
    return at > 0 && chars > FEED_PAGE_CHARS;
  });
  return end < 0 ? batches : batches.slice(0, end);
}
