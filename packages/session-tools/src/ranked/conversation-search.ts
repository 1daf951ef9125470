import { setImmediate } from "node:timers/promises";
import type { ConversationLog, Slot } from "@holdfast/core";
import { KeyedQueue, YieldingClock } from "@holdfast/core/plugin-kit";
import type { SearchedWord } from "@holdfast/core/plugin-kit/search";
import type { SessionScope } from "../caller.js";
import type { Embed } from "./message-vectors.js";
import { olderHits } from "./older-hits.js";
import { type ConversationCoverage, OwnerIndex } from "./owner-index.js";

/** Options of {@link ConversationSearch}. */
export interface ConversationSearchOptions {
  readonly log: ConversationLog;
  /** Memory for the indexes of all users together. @default 67_108_864 */
  readonly maxIndexBytes?: number | undefined;
  /** Model whose similarity is added to the ranking; its vectors are part of the index. @default none */
  readonly embed?: Embed | undefined;
}

/** A search of conversations by relevance. */
export interface ConversationQuery {
  readonly agentId: string;
  /** Owner of the sessions; `null` is only allowed together with a `sessionId`. */
  readonly userId: string | null;
  /** Searches only this session. @default every session of the user */
  readonly sessionId?: string | undefined;
  /** A question, or words. */
  readonly query: string;
  /** Most hits. @default 10 */
  readonly limit?: number | undefined;
  /** Time for bringing the index up to date; what is not read by then is left to the next search. @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Leaves out messages of a session by their tags. */
  isLeftOut?(sessionId: string, tag: number): boolean;
}

/** A message that was found. */
export interface ConversationHit {
  readonly slot: Slot;
  readonly seq: number;
  readonly score: number;
}

/** Result of a search. */
export interface ConversationFinds {
  /** Best first; of equal ones the newest. */
  readonly hits: readonly ConversationHit[];
  /** Number of messages that have any of the words, or stand near one that has. */
  readonly matches: number;
  /** Number of matches that were left out. */
  readonly leftOut: number;
  /** Words of the query, and what is known of them. */
  readonly words: readonly SearchedWord[];
  readonly coverage: ConversationCoverage;
  /** Tells whether a word was looked for; for `matchRanges` of `@holdfast/core/plugin-kit/search`. */
  isMatch(word: string): boolean;
}

const DEFAULT_BYTES = 67_108_864;
/** Shares that a message gets of the words of messages one, two and three away: an answer stands beside its question. */
const NEIGHBOURS = [0.6, 0.36, 0.2];

/** Index of one owner. */
interface Owner {
  readonly index: OwnerIndex;
  readonly userId: string | null;
}

/**
 * Searches conversations by relevance. The indexes, one for each user of an agent, are derived from the log, live in memory
 * and are bounded together: the one that was searched longest ago goes first.
 *
 * @example
 * const search = new ConversationSearch({ log });
 * const { hits } = await search.search({ agentId: "assistant", userId: "ada", query: "Which tea does she like?" });
 */
export class ConversationSearch {
  readonly #log: ConversationLog;
  readonly #maxBytes: number;
  readonly #embed: Embed | undefined;
  /** Least recently searched first. */
  readonly #owners = new Map<string, Owner>();
  readonly #queue = new KeyedQueue();

  constructor({ log, maxIndexBytes = DEFAULT_BYTES, embed }: ConversationSearchOptions) {
    this.#log = log;
    this.#embed = embed;
    this.#maxBytes = maxIndexBytes;
  }

  /** Estimated size of all indexes in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const { index } of this.#owners.values()) bytes += index.bytes;
    return bytes;
  }

  /** Finds the messages that fit a query best. Searches of one user take turns. */
  search(search: ConversationQuery): Promise<ConversationFinds> {
    const { agentId, userId, sessionId, query, limit = 10, timeoutMs, signal } = search;
    const key = ownerKey({ agentId, userId, sessionId });
    return this.#queue.run(key, async () => {
      signal?.throwIfAborted();
      const { index } = this.#ownerOf(key, userId);
      try {
        const building = new YieldingClock({ timeoutMs, signal });
        const coverage = await index.update({ agentId, userId, sessionId }, building);
        const similarity = await index.similarTo(query);
        // Each step is paced by a clock of its own, which begins now.
        await setImmediate();
        const { hits, ...found } = await index.texts.search({
          query,
          limit,
          clock: new YieldingClock({ signal }),
          group: sessionId,
          neighbours: NEIGHBOURS,
          ...(similarity && { similarity }),
          ...(search.isLeftOut && { isLeftOut: search.isLeftOut }),
        });
        const places = hits.map(({ group, position, score }) => ({
          slot: { agentId, userId, sessionId: group },
          seq: position,
          score,
        }));
        const { before } = coverage;
        if (before === undefined) return { ...found, hits: places, coverage };
        const scope = { agentId, userId, sessionId };
        const { words } = found;
        await setImmediate();
        const older = await olderHits({
          ...{ log: this.#log, scope, before, words, signal },
          texts: index.texts.texts,
        });
        // Of equal ones those of the index, which are newer, stay in front.
        const all = [...places, ...older.hits].sort((one, other) => other.score - one.score);
        return {
          ...found,
          matches: found.matches + older.hits.length,
          hits: all.slice(0, limit),
          coverage: { ...coverage, isCutOff: !older.isWhole },
        };
      } finally {
        if (index.texts.texts === 0) this.#forget(key, index);
        this.#makeRoom();
      }
    });
  }

  /** Forgets a session that was deleted, also what a search is reading of it at the moment. */
  forgetSession(slot: Slot): Promise<void> {
    const key = ownerKey(slot);
    return this.#queue.run(key, async () => this.#owners.get(key)?.index.remove(slot.sessionId));
  }

  /** Forgets a user who was deleted. */
  forgetUser(userId: string): void {
    for (const [key, owner] of this.#owners) if (owner.userId === userId) this.#owners.delete(key);
  }

  #ownerOf(key: string, userId: string | null): Owner {
    const owner = this.#owners.get(key) ?? {
      index: new OwnerIndex(this.#log, this.#maxBytes, this.#embed),
      userId,
    };
    this.#owners.delete(key);
    this.#owners.set(key, owner);
    return owner;
  }

  #forget(key: string, index: OwnerIndex): void {
    if (this.#owners.get(key)?.index === index) this.#owners.delete(key);
  }

  /** Drops indexes until the others fit; the last searched one always stays. */
  #makeRoom(): void {
    let bytes = this.bytes;
    for (const [key, { index }] of this.#owners) {
      if (bytes <= this.#maxBytes || this.#owners.size === 1) return;
      this.#owners.delete(key);
      bytes -= index.bytes;
    }
  }
}

function ownerKey({ agentId, userId, sessionId }: SessionScope): string {
  // Sessions without a user share nothing.
  return JSON.stringify([agentId, userId, userId === null ? sessionId : null]);
}
