import { InvalidInputError, type Message } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { SearchedWord } from "@holdfast/core/plugin-kit/search";
import { CallRemarks } from "../call-remarks.js";
import { type Caller, isSameSession, requestedScope, type SessionRequest } from "../caller.js";
import { refuseMissingSession } from "../missing-session.js";
import type { SessionToolParts } from "../session-tool.js";
import { HISTORY } from "../tool-calls.js";
import { messageTag } from "./brief-text.js";
import type {
  ConversationFinds,
  ConversationHit,
  ConversationSearch,
} from "./conversation-search.js";
import { Passages } from "./passages.js";
import { hitLines, minuteOf } from "./ranked-page.js";
import { readHit, type ShownHit } from "./shown-turns.js";

/** Input of a ranked search. */
export interface RankedRequest extends SessionRequest {
  readonly query: string;
  readonly maxResults: number;
  readonly includeDiscarded?: boolean | undefined;
  readonly includeContext?: boolean | undefined;
  readonly cursor?: string | undefined;
}

/** Hits beyond a page that are ranked: some are gone, or belong to calls that were discarded. */
const SPARE_HITS = 200;
/** Characters reserved for the text below the hits. */
const AROUND_CHARS = 900;

/** Searches by relevance and returns a page of hits. */
export async function rankedSearch(
  parts: SessionToolParts,
  conversations: ConversationSearch,
  request: RankedRequest,
  caller: Caller,
  clock: YieldingClock,
): Promise<string> {
  const { log, settings } = parts;
  const { query, maxResults } = request;
  const scope = requestedScope(caller, request);
  const skipped = request.cursor === undefined ? 0 : readRank(request.cursor);
  const ranked = await conversations.search({
    ...scope,
    query,
    limit: skipped + maxResults + SPARE_HITS,
    timeoutMs: settings.timeoutMs / 2,
    signal: caller.signal,
    ...(request.includeContext !== true && { isLeftOut: inContext(caller, scope.agentId) }),
  });
  const remarks = new CallRemarks(parts, caller, clock, request.includeDiscarded);
  const passages = new Passages();
  const rank = await fill(passages, ranked, skipped, {
    maxResults,
    isUp: () => clock.isUp,
    read: async ({ slot, seq }) => {
      const hit = await readHit({ log, remarks, clock, isMatch: ranked.isMatch }, slot, seq);
      return hit !== null && isWanted(hit, caller, request) ? hit : null;
    },
  });
  if (passages.rooms === 0) {
    const { sessionId } = scope;
    if (sessionId !== undefined) await refuseMissingSession(log, caller, { ...scope, sessionId });
    return nothingFound(ranked, skipped);
  }
  const page = hitLines(passages, ranked.isMatch, caller, settings.maxPageChars - AROUND_CHARS);
  const isHere = passages.list.every(({ slot }) => isSameSession(slot, caller.slot));
  const notes = [
    `${passages.hits} of ${ranked.matches} matches, best first, marked >.`,
    `Read on: ${HISTORY} with around: a position${isHere ? "" : " and its sessionId"}; with at: and an offset for one long message.`,
    ...(rank < ranked.hits.length ? [`More: the same with cursor: "rank:${rank}".`] : []),
    ...wordNotes(ranked.words),
    ...coverageNotes(ranked),
  ];
  return `${page}\n[${notes.join(" ")}]`;
}

interface FillOptions {
  readonly maxResults: number;
  isUp(): boolean;
  read(hit: ConversationHit): Promise<ShownHit | null>;
}

/** Fills a page with hits from a rank on, and returns the rank at which the next page begins. */
async function fill(
  passages: Passages,
  { hits }: ConversationFinds,
  from: number,
  { maxResults, isUp, read }: FillOptions,
): Promise<number> {
  let rank = from;
  while (rank < hits.length && !isUp()) {
    const batch = hits.slice(rank, rank + maxResults);
    const isShown = batch.map(({ slot, seq }) => passages.mark(slot.sessionId, seq));
    const found = await Promise.all(batch.map((hit, index) => (isShown[index] ? null : read(hit))));
    for (const [index, { slot, seq }] of batch.entries()) {
      const hit = found[index] ?? null;
      if (hit !== null && !passages.mark(slot.sessionId, seq)) {
        if (passages.rooms === maxResults) return rank;
        passages.add(hit);
      }
      rank++;
    }
  }
  return rank;
}

/** @throws InvalidInputError */
function readRank(cursor: string): number {
  const [, rank] = /^rank:(\d{1,6})$/.exec(cursor) ?? [];
  if (rank === undefined)
    throw new InvalidInputError(
      "the cursor is not one of this search; copy it from the previous answer",
    );
  return Number(rank);
}

/** Tells which messages the model has in its context in full. */
function inContext(
  { state, slot }: Caller,
  agentId: string,
): (sessionId: string, tag: number) => boolean {
  if (state === undefined || agentId !== slot.agentId) return () => false;
  const tags = new Set(state.context.map((message: Message) => messageTag(message)));
  return (sessionId, tag) => sessionId === slot.sessionId && tags.has(tag);
}

/** Leaves out the running call, which asks and does not answer. */
function isWanted({ slot, seq, turns }: ShownHit, caller: Caller, request: RankedRequest): boolean {
  if (request.includeContext === true || !isSameSession(slot, caller.slot)) return true;
  const hit = turns.find(({ record }) => record.seq === seq);
  return hit?.record.callId !== caller.callId;
}

/** Says what was taken for words that nobody said. */
function wordNotes(words: readonly SearchedWord[]): string[] {
  const taken = words.filter((word) => word.taken.length > 0);
  const unknown = words.filter((word) => word.texts === 0 && word.taken.length === 0);
  const notes = taken.map(
    ({ text, taken: [first, ...more] }) =>
      `Nobody said ${JSON.stringify(text)}; ${[first, ...more].map((word) => JSON.stringify(word)).join(", ")} was taken for it.`,
  );
  if (unknown.length > 0)
    notes.push(`Nobody said ${unknown.map(({ text }) => JSON.stringify(text)).join(", ")}.`);
  return notes;
}

/** Says what was not looked at, if anything was not. */
function coverageNotes({ coverage, leftOut }: ConversationFinds): string[] {
  const notes: string[] = [];
  if (leftOut > 0)
    notes.push(`${leftOut} matches in your context are left out; includeContext: true shows them.`);
  if (coverage.missing !== undefined) notes.push(`Looked at ${lookedAt({ coverage })}.`);
  if (coverage.missing === "time") notes.push("Time was up: search again to look further back.");
  if (coverage.missing === "room")
    notes.push(
      `Of what is older, only messages with one of the rarest words, as it is written${coverage.isCutOff ? ", and not as far back as it goes; exact: true goes on to the end" : ""}.`,
    );
  return notes;
}

function lookedAt({ coverage }: Pick<ConversationFinds, "coverage">): string {
  const { messages, sessions, since } = coverage;
  const from = since === undefined ? "" : `, back to ${minuteOf(new Date(since).toISOString())}`;
  return `${messages} messages of ${sessions} ${sessions === 1 ? "session" : "sessions"}${from}`;
}

/** Says what was looked for and where, so that the next search can do better. */
function nothingFound(ranked: ConversationFinds, skipped: number): string {
  if (skipped > 0) return "[No more matches.]";
  const words = ranked.words
    .filter((word) => word.taken.length === 0)
    .map(({ text, texts }) =>
      texts === 0
        ? `nobody said ${JSON.stringify(text)}`
        : `${JSON.stringify(text)} is in ${texts}`,
    );
  const notes = [
    `Nothing found in ${lookedAt(ranked)}.`,
    ...(words.length === 0 ? [] : [`Of your words, ${words.join(", ")}.`]),
    ...wordNotes(ranked.words.filter((word) => word.taken.length > 0)),
    ...coverageNotes(ranked),
    "Try other words for it, or exact: true for a part of a word.",
  ];
  return `[${notes.join(" ")}]`;
}
