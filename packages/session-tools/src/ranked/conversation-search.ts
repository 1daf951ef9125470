import type { ConversationLog, Slot } from "@holdfast/core";
import { KeyedQueue, YieldingClock } from "@holdfast/core/plugin-kit";
import type { TextHits } from "@holdfast/core/plugin-kit/search";
import type { SessionScope } from "../caller.js";
import { type Coverage, OwnerIndex } from "./owner-index.js";

/** A search of conversations by relevance. */
export interface RankedSearch {
  readonly scope: SessionScope;
  readonly query: string;
  /** Most hits. */
  readonly limit: number;
  /** Time for bringing the index up to date; what is not read by then is left to the next search. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Tells by the tag of a message of a session whether it is not wanted. */
  isLeftOut?(sessionId: string, tag: number): boolean;
}

/** Result of a {@link RankedSearch}; the group of a hit is its session, its position the seq. */
export interface RankedHits extends TextHits {
  readonly coverage: Coverage;
}

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
 */
export class ConversationSearch {
  readonly #log: ConversationLog;
  readonly #maxBytes: number;
  /** Least recently searched first. */
  readonly #owners = new Map<string, Owner>();
  readonly #queue = new KeyedQueue();

  constructor(log: ConversationLog, maxBytes: number) {
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /** Estimated size of all indexes in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const { index } of this.#owners.values()) bytes += index.bytes;
    return bytes;
  }

  /** Finds the messages that fit a query best. Searches of one user take turns. */
  search(search: RankedSearch): Promise<RankedHits> {
    const { userId, sessionId } = search.scope;
    const key = ownerKey(search.scope);
    return this.#queue.run(key, async () => {
      const { index } = this.#ownerOf(key, userId);
      const { timeoutMs, signal, query, limit } = search;
      try {
        signal?.throwIfAborted();
        const building = new YieldingClock({ timeoutMs, signal });
        const coverage = await index.update(search.scope, building);
        const clock = new YieldingClock({ signal });
        const hits = await index.texts.search({
          query,
          limit,
          clock,
          group: sessionId,
          neighbours: NEIGHBOURS,
          ...(search.isLeftOut && { isLeftOut: search.isLeftOut }),
        });
        return { ...hits, coverage };
      } finally {
        if (index.texts.texts === 0) this.#forget(key, index);
        this.#makeRoom();
      }
    });
  }

  /** Forgets a session that was deleted, also what a search is reading of it at the moment. */
  forgetSession({ agentId, userId, sessionId }: Slot): Promise<void> {
    const key = ownerKey({ agentId, userId, sessionId });
    return this.#queue.run(key, async () => this.#owners.get(key)?.index.remove(sessionId));
  }

  /** Forgets a user who was deleted. */
  forgetUser(userId: string): void {
    for (const [key, owner] of this.#owners) if (owner.userId === userId) this.#owners.delete(key);
  }

  #ownerOf(key: string, userId: string | null): Owner {
    const owner = this.#owners.get(key) ?? {
      index: new OwnerIndex(this.#log, this.#maxBytes),
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
