import { SessionBusyError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { LiveState } from "../../state/live-state.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { isRolledBack } from "../../store-kit/revision.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { type OpenedState, OpenSession, stateOf } from "./open-session.js";
import type { CachedState } from "./state-cache.js";

/** Settings of one entry into a session. */
export interface EntryOptions {
  readonly callId: string;
  /** Leaves the queue when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: fail instead of queueing. @default true */
  readonly wait?: boolean | undefined;
  readonly queueTimeoutMs?: number | undefined;
  /** Take back the step saves of a run that died, instead of going on from them. */
  readonly takeBackUnfinished?: boolean | undefined;
  /** Runs before the call joins the queue, in the order in which calls were made. */
  prepare?(): Promise<void>;
  /** Called when another call holds the slot. */
  onWait?(): void;
  emit(event: EventBody): void;
}

/**
 * Lets calls join a session's queue in the order in which they were made, although each has something to do first that
 * may take one longer than another.
 */
export class Arrivals {
  /** The latest arrival by session: resolves once it has joined. Empty when nothing is on its way. */
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `prepare`, then `enter`, once every earlier arrival has entered. The result of `enter` is not waited for before
   * the next one may enter.
   */
  async arrive<T>(key: string, prepare: () => Promise<void>, enter: () => Promise<T>): Promise<T> {
    const earlier = this.#last.get(key);
    let entered = () => {};
    const mine = new Promise<void>((resolve) => {
      entered = resolve;
    });
    this.#last.set(key, mine);
    try {
      await earlier;
      await prepare();
      // Not awaited here: a call that waits in the queue must not keep the next from joining it.
      return enter();
    } finally {
      entered();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

/** Time a call took to get its session; the wait for its turn is counted apart from the rest. */
class EntryTimer {
  readonly #began = performance.now();
  #waitBegan: number | undefined;
  #waitedMs = 0;

  waiting(): void {
    this.#waitBegan ??= performance.now();
  }

  entered(): void {
    if (this.#waitBegan !== undefined) this.#waitedMs = performance.now() - this.#waitBegan;
  }

  /** The event that says where the state came from, and how long it took. */
  loaded({ state, revision }: OpenedState, source: "store" | "cache" | "new"): EventBody {
    const read = () => Buffer.byteLength(JSON.stringify(state.head())) + state.contextBytes();
    return {
      type: "state_loaded",
      source,
      bytes: source === "store" ? read() : 0,
      messages: state.context.length,
      revision,
      waitedMs: this.#waitedMs,
      durationMs: performance.now() - this.#began - this.#waitedMs,
    };
  }
}

/**
 * Waits for the slot's turn, loads its state, and runs `use` while this process holds the lease. The one place where the
 * engine gives a lease back.
 *
 * @throws SessionBusyError | StoreError | what `entry.signal` was aborted with | what `use` throws
 */
export function withSession<T>(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  use: (session: OpenSession) => Promise<T>,
): Promise<T> {
  const key = slotText(slot);
  let cached: CachedState | undefined;
  const known = () => {
    cached = parts.cache.peek(key);
    return cached?.revision;
  };
  return underLease(parts, slot, entry, known, async (lease, timer) => {
    const answer =
      lease.loaded === undefined ? await parts.stateStore.load(slot, known()) : lease.loaded;
    parts.cache.take(key);
    if (answer === "unchanged" && cached) {
      entry.emit(timer.loaded(cached, "cache"));
      return use(new OpenSession(slot, lease, cached, entry.callId, parts.now));
    }
    const loaded = answer === "unchanged" ? await parts.stateStore.load(slot) : answer;
    const found = loaded === null || loaded === "unchanged" ? null : loaded;
    const stored = found?.revision ?? "0.none";
    if (cached && isRolledBack(cached.revision, stored))
      entry.emit({ type: "store_rolled_back", known: cached.revision, stored });
    const opened: OpenedState = found
      ? { state: stateOf(slot, found), revision: found.revision }
      : { state: LiveState.create(slot), revision: null };
    entry.emit(timer.loaded(opened, found ? "store" : "new"));
    const session = new OpenSession(slot, lease, opened, entry.callId, parts.now);
    if (found) session.tidy(entry);
    return use(session);
  });
}

/** Runs `use` with the slot's lease, without loading its state: what cannot be read can still be deleted. */
export function withLease<T>(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  use: () => Promise<T>,
): Promise<T> {
  return underLease(parts, slot, entry, undefined, use);
}

function underLease<T>(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  known: (() => Revision | undefined) | undefined,
  use: (lease: Lease, timer: EntryTimer) => Promise<T>,
): Promise<T> {
  const prepare = async () => entry.prepare?.();
  return parts.arrivals.arrive(slotText(slot), prepare, async () => {
    const timer = new EntryTimer();
    const lease = await acquire(parts, slot, entry, timer, known);
    timer.entered();
    try {
      return await use(lease, timer);
    } finally {
      // No round trip where the last save carried the release.
      await lease.release().catch(() => undefined);
    }
  });
}

async function acquire(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  timer: EntryTimer,
  known: (() => Revision | undefined) | undefined,
): Promise<Lease> {
  const { queueTimeoutMs, signal } = entry;
  const leave = new AbortController();
  const forward = () => leave.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener("abort", forward, { once: true });
  const giveUp = () => {
    const waited = `busy for ${queueTimeoutMs} ms (queueTimeoutMs)`;
    leave.abort(new SessionBusyError(`${describeSlot(slot)} was ${waited}`));
  };
  const timeout =
    queueTimeoutMs === undefined
      ? undefined
      : setTimeout(giveUp, Math.min(queueTimeoutMs, longestTimerMs));
  try {
    return await parts.gate.acquire(slot, {
      callId: entry.callId,
      known,
      signal: leave.signal,
      wait: entry.wait,
      maxQueue: parts.settings.maxQueue,
      onWait: (ahead) => {
        entry.emit({ type: "queue_wait", ahead });
        timer.waiting();
        entry.onWait?.();
      },
    });
  } finally {
    clearTimeout(timeout);
    signal?.removeEventListener("abort", forward);
  }
}
