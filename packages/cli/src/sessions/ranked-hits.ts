import type { DistributedStore, LogRecord, Slot } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { matchRanges } from "@holdfast/core/plugin-kit/search";
import { CallOutcomes, isDiscarded, withBlobs } from "@holdfast/core/store-kit";
import { type ConversationHit, ConversationSearch } from "@holdfast/session-tools";
import { safeLine } from "../terminal/safe-text.js";
import type { Colors } from "../terminal/terminal.js";
import { messageText } from "./transcript.js";

/** Sessions to search: all of a user with an agent, or one of them. */
export interface SearchedOwner {
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId?: string | undefined;
}

/** A message that fits a question. */
export interface RankedHit {
  readonly slot: Slot;
  readonly record: LogRecord;
  readonly score: number;
  readonly discarded: boolean;
  /** The part of its text with the first match, on one line. */
  readonly snippet: string;
  isMatch(word: string): boolean;
}

/** Part of the best hits. */
export interface HitPage {
  readonly hits: readonly RankedHit[];
  /** Rank at which the next page begins; absent on the last one. */
  readonly next?: number | undefined;
}

const SNIPPET_CHARS = 240;

/** Finds the messages that fit a question best, by the ranking of `session_search`. */
export async function rankedHits(
  { log, stateStore }: Pick<DistributedStore, "log" | "stateStore">,
  owners: readonly SearchedOwner[],
  query: string,
  { from = 0, limit }: { readonly from?: number | undefined; readonly limit: number },
): Promise<HitPage> {
  const search = new ConversationSearch({ log });
  const found: (ConversationHit & Pick<RankedHit, "isMatch">)[] = [];
  for (const owner of owners) {
    const { hits, isMatch } = await search.search({ ...owner, query, limit: from + limit + 1 });
    found.push(...hits.map((hit) => ({ ...hit, isMatch })));
  }
  found.sort((one, other) => other.score - one.score);
  const outcomes = new CallOutcomes(log, { stateStore });
  const hits: RankedHit[] = [];
  for (const { seq, ...hit } of found.slice(from, from + limit)) {
    const [stored] = await log.read(hit.slot, { after: seq - 1, limit: 1 });
    // It may be gone since.
    if (stored?.message === undefined || stored.seq !== seq) continue;
    const record = await withBlobs(log, hit.slot, stored);
    const text = safeLine(messageText(record.message ?? stored.message));
    const discarded = isDiscarded(await outcomes.of(hit.slot, stored));
    hits.push({ ...hit, record, discarded, snippet: snippetOf(text, hit.isMatch) });
  }
  return { hits, next: found.length > from + limit ? from + limit : undefined };
}

/** Colours the words that were looked for. */
export function highlighted(
  { snippet, isMatch }: Pick<RankedHit, "snippet" | "isMatch">,
  { yellow }: Colors,
): string {
  let text = "";
  let at = 0;
  for (const { start, end } of matchRanges(snippet, isMatch)) {
    text += snippet.slice(at, start) + yellow(snippet.slice(start, end));
    at = end;
  }
  return text + snippet.slice(at);
}

function snippetOf(text: string, isMatch: (word: string) => boolean): string {
  if (text.length <= SNIPPET_CHARS) return text;
  const first = matchRanges(text, isMatch)[0]?.start ?? 0;
  const start = Math.max(0, Math.min(first - SNIPPET_CHARS / 4, text.length - SNIPPET_CHARS));
  const [from, to] = [cutIndex(text, start), cutIndex(text, start + SNIPPET_CHARS)];
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
