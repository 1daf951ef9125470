import { SessionBusyError, StateConflictError, type Usage } from "@holdfast/core";
import { addUsage, type FileNamespace, noUsage } from "@holdfast/core/plugin-kit";
import { type Lease, uuidv7 } from "@holdfast/core/store-kit";
import { memorySlot } from "../files/memory-files.js";
import { failureOf, MemoryFailure } from "../memory-failure.js";
import type { MemoryParts } from "../memory-parts.js";
import { plausibleTime, retryBackoffMs } from "../schedule/due-time.js";
import type { Outcome, RunOptions } from "../schedule/schedule.js";
import { tokenShares } from "../token-shares.js";
import { askForMemory, type MergedMemory } from "./ask-for-memory.js";
import { type NewNotes, newNotes, unconsumedDays } from "./new-notes.js";
import { isTidyDue, tidyUp } from "./tidy-up.js";
import { type StoredUserEntry, UserEntries, type UserEntry } from "./user-entries.js";

/** Most merges of one consolidation; the remaining notes wait for the next. */
const MAX_PASSES = 8;
/** Delay before another attempt while another process consolidates. */
const BUSY_MS = 30_000;
const LEAST_BUSY_MS = 200;
/** Delay after a failure that is not the model's. */
const OUTAGE_MS = 300_000;

/**
 * Merges a user's new notes into `MEMORY.md` when that is due, and archives old notes: one process at a time, under a lease.
 * Never rejects: a failure is an event, and the memory is unchanged.
 */
export async function consolidate(
  parts: MemoryParts,
  namespace: FileNamespace,
  options: RunOptions,
): Promise<Outcome> {
  const now = parts.now().getTime();
  const callId = uuidv7();
  try {
    const { signal, forced } = options;
    const { notesAt, isUntidy } = await dueWork(parts, namespace, forced);
    if ((notesAt === null || notesAt > now) && !isUntidy)
      return { notBefore: notesAt ?? 0, again: notesAt !== null };
    const lease = await parts.gate.acquire(memorySlot(namespace), { callId, wait: false, signal });
    try {
      return await new Consolidation(parts, namespace, callId, options, lease).run();
    } finally {
      await lease.release().catch(() => undefined);
    }
  } catch (error) {
    const { minGapMs } = parts.settings.consolidation;
    const busyMs = Math.max(LEAST_BUSY_MS, Math.min(minGapMs, BUSY_MS));
    if (!SessionBusyError.is(error))
      parts.emit({ ...namespace }, callId, {
        ...{ type: "consolidation", state: "failed", error: failureOf(error) },
      });
    return { notBefore: now + (SessionBusyError.is(error) ? busyMs : OUTAGE_MS), again: true };
  }
}

/** Returns when there are notes to consolidate, and whether tidying is due. */
async function dueWork(
  parts: MemoryParts,
  namespace: FileNamespace,
  forced: boolean,
): Promise<{ notesAt: number | null; isUntidy: boolean }> {
  const { entry } = await new UserEntries(parts.keyValue).get(namespace);
  const hasNotes = unconsumedDays(await parts.files.days(namespace), entry).length > 0;
  return {
    notesAt: hasNotes ? (forced ? 0 : dueAt(parts, entry)) : null,
    isUntidy: isTidyDue(parts, entry),
  };
}

function dueAt({ settings, now }: MemoryParts, { consolidatedAt, failures }: UserEntry): number {
  const pauseMs = Math.max(settings.consolidation.minGapMs, retryBackoffMs(failures));
  return plausibleTime(consolidatedAt + pauseMs, now().getTime() + pauseMs);
}

class Consolidation {
  readonly #parts: MemoryParts;
  readonly #namespace: FileNamespace;
  readonly #callId: string;
  readonly #forced: boolean;
  readonly #stops: readonly AbortSignal[];
  readonly #entries: UserEntries;
  #usage = noUsage;

  constructor(
    parts: MemoryParts,
    namespace: FileNamespace,
    callId: string,
    { signal, forced }: RunOptions,
    lease: Lease,
  ) {
    this.#parts = parts;
    this.#namespace = namespace;
    this.#callId = callId;
    this.#forced = forced;
    this.#stops = [signal, lease.lost];
    this.#entries = new UserEntries(parts.keyValue);
  }

  async run(): Promise<Outcome> {
    const began = this.#parts.now().getTime();
    // Another process may have consolidated since the check.
    let stored = await this.#entries.get(this.#namespace);
    // Only tidying is due; there may be notes for later.
    let hasMore = true;
    if (this.#forced || dueAt(this.#parts, stored.entry) <= began) {
      hasMore = false;
      const notes = await this.#newNotes(stored.entry);
      if (notes !== null) {
        this.#emit({ state: "start" });
        try {
          ({ stored, hasMore } = await this.#passes(stored, notes, began));
        } catch (error) {
          return await this.#failed(error, began);
        }
        this.#emit({ state: "end", usage: this.#usage });
      }
    }
    for (const stop of this.#stops) stop.throwIfAborted();
    if (isTidyDue(this.#parts, stored.entry))
      stored = await tidyUp(this.#parts, this.#namespace, stored, this.#stops);
    return { notBefore: dueAt(this.#parts, stored.entry), again: hasMore };
  }

  async #passes(
    before: StoredUserEntry,
    first: NewNotes,
    began: number,
  ): Promise<{ stored: StoredUserEntry; hasMore: boolean }> {
    let stored = before;
    let notes: NewNotes | null = first;
    for (let pass = 0; notes !== null; pass++) {
      if (pass === MAX_PASSES) return { stored, hasMore: true };
      const merged = notes.pages.length > 0 ? await this.#merge(stored, notes) : null;
      const consumed: UserEntry["consumed"] = {
        ...stored.entry.consumed,
        ...(merged?.isPart ? {} : notes.consumed),
      };
      const entry: UserEntry = { ...stored.entry, consumed, consolidatedAt: began, failures: 0 };
      // Only now: if the process is killed before this, the notes are merged again and none is lost.
      stored = await this.#entries.put(this.#namespace, stored, entry);
      if (merged?.wasLong) return { stored, hasMore: merged.isPart || notes.hasMore };
      notes = notes.hasMore ? await this.#newNotes(entry) : null;
    }
    return { stored, hasMore: false };
  }

  async #merge(stored: StoredUserEntry, notes: NewNotes): Promise<MergedMemory> {
    const { files } = this.#parts;
    const base = await files.readMemory(this.#namespace);
    const merged = await askForMemory(this.#parts, {
      ...{ memory: base, pages: notes.pages, stops: this.#stops },
      from: { slot: { ...this.#namespace }, callId: this.#callId },
    });
    this.#usage = addUsage(this.#usage, merged.usage);
    await this.#checkStillMine(stored, notes);
    if (!(await files.replaceMemory(this.#namespace, base, merged.text)))
      throw new MemoryFailure("MEMORY.md was changed meanwhile; it is left as it is for now");
    return merged;
  }

  /** Prevents a write after another process took over, or after the user was deleted. */
  async #checkStillMine(stored: StoredUserEntry, notes: NewNotes): Promise<void> {
    const { version } = await this.#entries.get(this.#namespace);
    const days = new Set((await this.#parts.files.days(this.#namespace)).map(({ path }) => path));
    const isSame = version === stored.version;
    if (!isSame || Object.keys(notes.consumed).some((path) => !days.has(path)))
      throw new MemoryFailure("the memory was changed by another process meanwhile");
    for (const stop of this.#stops) stop.throwIfAborted();
  }

  async #failed(error: unknown, began: number): Promise<Outcome> {
    const what = StateConflictError.is(error) ? "CONFLICT" : failureOf(error);
    this.#emit({ state: "failed", error: what, usage: this.#usage });
    try {
      const stored = await this.#entries.get(this.#namespace);
      const failures = stored.entry.failures + 1;
      const entry = { ...stored.entry, consolidatedAt: began, failures };
      // A user who was deleted meanwhile needs no retry.
      const days = await this.#parts.files.days(this.#namespace);
      if (days.length === 0) return { notBefore: 0, again: false };
      await this.#entries.put(this.#namespace, stored, entry);
      return { notBefore: dueAt(this.#parts, entry), again: true };
    } catch {
      return { notBefore: began + OUTAGE_MS, again: true };
    }
  }

  #newNotes(entry: UserEntry): Promise<NewNotes | null> {
    const { files, settings, model } = this.#parts;
    const { material } = tokenShares(model.contextWindow, settings.consolidation.maxTokens);
    return newNotes(files, this.#namespace, entry, {
      maxTokens: material,
      counter: this.#parts.counter(),
      now: this.#parts.now(),
    });
  }

  #emit(event: {
    readonly state: "start" | "end" | "failed";
    readonly usage?: Usage;
    readonly error?: string;
  }): void {
    this.#parts.emit({ ...this.#namespace }, this.#callId, { type: "consolidation", ...event });
  }
}
