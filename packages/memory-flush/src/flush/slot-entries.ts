import { type KeyValueStore, type Slot, StateConflictError } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { slotKey, uuidv7 } from "@holdfast/core/store-kit";
import { plausibleTime, retryBackoffMs } from "../schedule/due-time.js";
import { entryValue, SlotClaim, type SlotEntry } from "./slot-claim.js";

const NAMESPACE = ["memory-flush", "slots"];
/** Time by which a claim outlives the request it is for. */
const MARGIN_MS = 30_000;
/** Most attempts to claim a session while other processes write to its entry. */
const ATTEMPTS = 5;
/** Delay before another attempt while another process flushes. */
const BUSY_MS = 5_000;

const entrySchema: s.Schema<SlotEntry> = s.object({
  seq: s.number(),
  flushedAt: s.number(),
  lookedAt: s.number(),
  failures: s.number(),
  hasMore: s.boolean().optional(),
  claim: s
    .object({ token: s.string(), until: s.number(), holdMs: s.number().optional() })
    .optional(),
  pending: s.object({ id: s.string(), path: s.string(), through: s.number() }).optional(),
});

/** Clock and limits of the process that claims. */
export interface ClaimTerms {
  readonly now: () => number;
  readonly throttleMs: number;
  readonly timeoutMs: number;
  /** True to ignore the throttle. */
  readonly forced: boolean;
}

/** Watermarks and claims of sessions: one value per session, changed only by compare-and-set. */
export class SlotEntries {
  readonly #keyValue: KeyValueStore;

  constructor(keyValue: KeyValueStore) {
    this.#keyValue = keyValue;
  }

  /** Claims a session, or returns the time at which to try again. */
  async claim(slot: Slot, terms: ClaimTerms): Promise<SlotClaim | { readonly at: number }> {
    const key = slotKey(slot);
    for (let attempt = 1; ; attempt++) {
      const stored = await this.#keyValue.get(NAMESPACE, key);
      const entry = readEntry(stored?.value);
      const now = terms.now();
      const at = earliest(entry, now, terms);
      if (at > now) return { at };
      const holdMs = terms.timeoutMs + MARGIN_MS;
      const claimed: SlotEntry = {
        ...entry,
        flushedAt: now,
        claim: { token: uuidv7(), until: now + holdMs, holdMs },
      };
      try {
        const expected = stored?.version ?? null;
        const version = await this.#keyValue.put(NAMESPACE, key, entryValue(claimed), { expected });
        return new SlotClaim({
          place: { keyValue: this.#keyValue, namespace: NAMESPACE, key },
          ...{ entry: claimed, version, before: entry, now: terms.now, holdMs },
        });
      } catch (error) {
        if (!StateConflictError.is(error)) throw error;
        if (attempt === ATTEMPTS) return { at: now + BUSY_MS };
      }
    }
  }

  /** Returns when each session was last read to its end; 0 when that never happened or failed. */
  async lookedAt(slots: readonly Slot[], now: number): Promise<number[]> {
    const values = await this.#keyValue.getMany(NAMESPACE, slots.map(slotKey));
    return values.map((stored) => {
      const { flushedAt, lookedAt, failures, hasMore, claim } = readEntry(stored?.value);
      const isUnfinished = failures > 0 || hasMore || claim !== undefined;
      return isUnfinished
        ? 0
        : Math.max(plausibleTime(flushedAt, now), plausibleTime(lookedAt, now));
    });
  }

  async forget(slot: Slot): Promise<void> {
    await this.#keyValue.delete(NAMESPACE, slotKey(slot));
  }
}

const never: SlotEntry = { seq: 0, flushedAt: 0, lookedAt: 0, failures: 0 };

/** Reads an entry. An invalid one counts as none: the session is flushed from its beginning, and nothing is missed. */
function readEntry(value: unknown): SlotEntry {
  return entrySchema.safeParse(value).data ?? never;
}

/** Returns the earliest time at which a session may be flushed. */
function earliest(entry: SlotEntry, now: number, terms: ClaimTerms): number {
  const { throttleMs, timeoutMs, forced } = terms;
  const pauseMs = Math.max(forced ? 0 : throttleMs, retryBackoffMs(entry.failures));
  const throttled = plausibleTime(entry.flushedAt + pauseMs, now + pauseMs);
  const holdMs = entry.claim?.holdMs ?? timeoutMs + MARGIN_MS;
  const held = plausibleTime(entry.claim?.until ?? 0, now + holdMs);
  // The holder is usually done long before its claim expires.
  return held > now ? Math.max(throttled, Math.min(held, now + BUSY_MS)) : throttled;
}
