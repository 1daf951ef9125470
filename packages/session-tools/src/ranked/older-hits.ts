import type { ConversationLog } from "@holdfast/core";
import type { SearchedWord } from "@holdfast/core/plugin-kit/search";
import type { LogPosition } from "@holdfast/core/store-kit";
import type { SessionScope } from "../caller.js";
import { isMessage } from "../log-records.js";
import type { ConversationHit } from "./conversation-search.js";

/** Words that are looked for, the rarest ones; each takes a search of the log. */
const MAX_WORDS = 3;
/** Messages that are taken for each word. */
const MAX_MESSAGES = 20;

/** The part of the conversations that is not in the index. */
export interface OlderPart {
  readonly log: ConversationLog;
  readonly scope: SessionScope;
  /** Everything from here on, as the log orders it, is not in the index. */
  readonly before: LogPosition;
  readonly words: readonly SearchedWord[];
  /** Number of messages in the index, by which words are rare or not. */
  readonly texts: number;
  readonly signal: AbortSignal | undefined;
}

/** Messages that were found in the older part. */
export interface OlderHits {
  readonly hits: readonly ConversationHit[];
  /** False when a search of the log ended at its limits before it had seen everything. */
  readonly isWhole: boolean;
}

/** Finds messages with words of the query in what did not fit into the index, by the log's own search for each word. */
export async function olderHits(part: OlderPart): Promise<OlderHits> {
  const { log, scope, before, words, texts, signal } = part;
  const rarity = (word: SearchedWord): number =>
    Math.log(1 + (texts - word.texts + 0.5) / (word.texts + 0.5));
  const rarest = [...words].sort((one, other) => one.texts - other.texts).slice(0, MAX_WORDS);
  const hits = new Map<string, ConversationHit>();
  let isWhole = true;
  // One after the other: each takes as much of the event loop as it may.
  for (const word of rarest) {
    const text = word.taken[0] ?? word.text;
    const finds = await log.search({ ...scope, text, limit: MAX_MESSAGES, before, signal });
    if (finds.next !== undefined && finds.hits.length < MAX_MESSAGES) isWhole = false;
    for (const { slot, record } of finds.hits) {
      if (!isMessage(record)) continue;
      const key = `${record.seq}@${slot.sessionId}`;
      const score = (hits.get(key)?.score ?? 0) + rarity(word);
      hits.set(key, { slot, seq: record.seq, score });
    }
  }
  return { hits: [...hits.values()], isWhole };
}
