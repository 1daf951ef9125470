import { ModelError, type Slot, StateConflictError } from "@holdfast/core";
import { addUsage, isContextOverflow, noUsage } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { archivePath, dayPath, noteEnd } from "../files/memory-files.js";
import { failureOf } from "../memory-failure.js";
import type { MemoryParts } from "../memory-parts.js";
import { retryBackoffMs } from "../schedule/due-time.js";
import type { Outcome, RunOptions } from "../schedule/schedule.js";
import { tokenShares } from "../token-shares.js";
import { askForFacts } from "./ask-for-facts.js";
import { firstPiece, halfOf } from "./piece.js";
import { type RenderedRecord, readUnflushed, type Unflushed } from "./read-unflushed.js";
import { SlotClaim } from "./slot-claim.js";
import { SlotEntries } from "./slot-entries.js";

/** Result of a flush. */
export interface FlushOutcome extends Outcome {
  /** True when a conversation was read; false when it was too early, nothing was new, or it failed before the first note. */
  readonly flushed: boolean;
}

const MAX_REQUESTS = 8;
/** Most times a piece that is too long for the model is halved. */
const HALVINGS = 7;
/** Delay after the failure of a flush that no later call asks for again. */
const UNASKED_MS = 60_000;

/**
 * Extracts facts from what was said in a session since the last flush, and notes them. Reads the log, not the context, so it
 * does not block the session and sees what has left the context, too. Never rejects: a failure is an event.
 */
export async function flushSlot(
  parts: MemoryParts,
  slot: Slot,
  options: RunOptions,
): Promise<FlushOutcome> {
  const { settings } = parts;
  const now = (): number => parts.now().getTime();
  const throttleMs = settings.throttleMs ?? 0;
  const callId = uuidv7();
  let claim: SlotClaim | undefined;
  let flush: Flush | undefined;
  try {
    const terms = { now, throttleMs, timeoutMs: settings.timeoutMs, forced: options.forced };
    const claimed = await new SlotEntries(parts.keyValue).claim(slot, terms);
    if (!(claimed instanceof SlotClaim))
      return { flushed: false, notBefore: claimed.at, again: true };
    claim = claimed;
    flush = new Flush(parts, slot, callId, options.signal, claim);
    return await flush.run();
  } catch (error) {
    // A conflict means that another process took over, or that the session was deleted.
    if (!StateConflictError.is(error) || claim === undefined)
      parts.emit(slot, callId, { type: "memory_flush_failed", error: failureOf(error) });
    const failures = (claim?.failures ?? 0) + 1;
    await claim?.failed().catch(() => undefined);
    const pauseMs = Math.max(
      throttleMs,
      retryBackoffMs(failures),
      // No call asks for these again.
      options.forced || claim === undefined ? UNASKED_MS : 0,
    );
    const flushed = flush !== undefined && flush.entries > 0;
    return { flushed, notBefore: now() + pauseMs, again: pauseMs > 0 };
  }
}

/** Tells whether the provider refuses this content; a retry would not help. */
function isRefusal(error: unknown): boolean {
  return ModelError.is(error) && error.kind === "content";
}

class Flush {
  readonly #parts: MemoryParts;
  readonly #slot: Slot;
  readonly #callId: string;
  readonly #signal: AbortSignal;
  readonly #claim: SlotClaim;
  #usage = noUsage;
  #entries = 0;

  constructor(
    parts: MemoryParts,
    slot: Slot,
    callId: string,
    signal: AbortSignal,
    claim: SlotClaim,
  ) {
    this.#parts = parts;
    this.#slot = slot;
    this.#callId = callId;
    this.#signal = signal;
    this.#claim = claim;
  }

  /** Number of facts that were noted. */
  get entries(): number {
    return this.#entries;
  }

  async run(): Promise<FlushOutcome> {
    const { throttleMs } = this.#parts.settings;
    await this.#settlePending();
    const found = await this.#read();
    if (found === null) {
      await this.#claim.forget();
      return { flushed: false, notBefore: 0, again: false };
    }
    if (found.messages.length === 0) {
      await this.#claim.nothing(found.through, found.hasMore);
      return {
        flushed: false,
        notBefore: this.#claim.before + (throttleMs ?? 0),
        again: found.hasMore,
      };
    }
    this.#emit({ type: "memory_flush_start" });
    const left = await this.#flush(found);
    await this.#mark();
    await this.#claim.done(left);
    this.#emit({ type: "memory_flush_end", entries: this.#entries, usage: this.#usage });
    return { flushed: true, notBefore: this.#claim.at + (throttleMs ?? 0), again: left };
  }

  /** Checks whether the note of a process that died was written; if so, it is not written again. */
  async #settlePending(): Promise<void> {
    const { pending } = this.#claim;
    if (pending === undefined) return;
    const { files } = this.#parts;
    const end = noteEnd(pending.id);
    // Its day may have been archived since.
    let isThere = false;
    for (const path of [pending.path, archivePath(pending.path)])
      isThere ||= (await files.read(this.#slot, path))?.includes(end) ?? false;
    if (isThere) await this.#claim.advance(pending.through);
    else await this.#claim.renew();
  }

  /** Reads what is new; null when the session has no log. */
  async #read(): Promise<Unflushed | null> {
    const { log } = this.#parts;
    const found = await readUnflushed(this.#parts, this.#slot, this.#claim.seq);
    if (found.through > this.#claim.seq) return found;
    const [last] = await log.read(this.#slot, { limit: 1 });
    if (last === undefined) return null;
    // A log that was deleted and started again counts from the beginning.
    if (last.seq < this.#claim.seq) return readUnflushed(this.#parts, this.#slot, 0);
    return found;
  }

  /** Notes the facts in the messages. @returns whether something is left for the next flush */
  async #flush({ messages, through, hasMore }: Unflushed): Promise<boolean> {
    const { settings, model } = this.#parts;
    let budget = tokenShares(model.contextWindow, settings.consolidation.maxTokens).material;
    let rest: readonly RenderedRecord[] = messages;
    let most = rest.length;
    for (let requests = 0, halvings = 0; rest.length > 0; requests++) {
      if (requests === MAX_REQUESTS) return true;
      const piece = firstPiece(rest.slice(0, most), budget, this.#parts.counter());
      const { length } = piece.messages;
      try {
        const facts = await this.#ask(piece.messages).catch((error: unknown) => {
          // A single message is refused, or the search for it takes too long: skip it, so that the rest can go on.
          if (isRefusal(error) && (length === 1 || halvings >= HALVINGS)) return [];
          throw error;
        });
        rest = rest.slice(length);
        await this.#keep(facts, rest.length === 0 ? through : piece.through);
      } catch (error) {
        if (isRefusal(error) && halvings++ < HALVINGS) {
          most = Math.ceil(length / 2);
          continue;
        }
        const isTooLong = isContextOverflow(error) && !this.#signal.aborted;
        if (!isTooLong || halvings++ >= HALVINGS) throw error;
        if (piece.messages.length > 1) budget = Math.floor(budget / 2);
        // A single message is too long: shorten it, so that the rest can go on.
        else rest = [...piece.messages.map(halfOf), ...rest.slice(1)];
      }
    }
    return hasMore;
  }

  async #ask(messages: readonly RenderedRecord[]): Promise<string[]> {
    const { facts, usage } = await askForFacts(this.#parts, {
      slot: this.#slot,
      callId: this.#callId,
      messages: messages.map(({ text }) => text),
      signal: this.#signal,
    });
    this.#usage = addUsage(this.#usage, usage);
    return facts;
  }

  /** Writes the note, then the position; if the process is killed in between, the end of the note shows that it was written. */
  async #keep(facts: readonly string[], through: number): Promise<void> {
    this.#signal.throwIfAborted();
    if (facts.length > 0) {
      const { files } = this.#parts;
      const at = this.#parts.now();
      const id = uuidv7();
      await this.#claim.renew({ id, path: dayPath(at), through });
      const { sessionId, agentId } = this.#slot;
      const title = `session ${JSON.stringify(sessionId)}, agent ${JSON.stringify(agentId)}`;
      const text = [...facts.map((fact) => `- ${fact}`), noteEnd(id)].join("\n");
      await files.appendNotes(this.#slot, at, title, text);
      this.#entries += facts.length;
    }
    await this.#claim.advance(through);
  }

  /** Leaves a mark in the log, unless the session was deleted meanwhile. */
  async #mark(): Promise<void> {
    const { log } = this.#parts;
    const details = { entries: this.#entries, through: this.#claim.seq };
    const mark = { name: "memory_flush", details };
    const callId = this.#callId;
    const at = this.#parts.now().toISOString();
    try {
      if ((await log.read(this.#slot, { limit: 1 })).length === 0) return;
      await log.append(this.#slot, [{ v: 1, id: callId, callId, at, kind: "mark", mark }]);
    } catch {
      // The mark is informative only; the facts are noted.
    }
  }

  #emit(event: Parameters<MemoryParts["emit"]>[2]): void {
    this.#parts.emit(this.#slot, this.#callId, event);
  }
}
