import { SessionBusyError, StateTooNewError } from "../../errors/errors.js";
import { StateCorruptError } from "../../errors/store-errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { loadWhole } from "../../store-kit/load-whole.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { RunName } from "../save/log-batch.js";
import type { HeldSlot, OpenedState, OpenSession } from "./open-session.js";
import { type OpeningOptions, openAnswer, openFound, putBack } from "./open-stored.js";
import type { KnownState } from "./state-cache.js";
import { orAborted } from "./stop-switch.js";

/** Settings of one entry into a session. */
export interface EntryOptions extends RunName, OpeningOptions {
  /** Returns the call's input, to be kept in the session's inbox from the moment it holds the lease. */
  put?(): InboxEntry | undefined;
  /** Leaves the queue when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: fail instead of queueing. @default true */
  readonly wait?: boolean | undefined;
  readonly queueTimeoutMs?: number | undefined;
  /** Runs before the call joins the queue, in the order in which calls were made. */
  prepare?(): Promise<void>;
  /** Called when another call holds the slot. */
  onWait?(): void;
  /** Called once the slot is held. */
  onEnter?(): void;
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
   *
   * @param wait - waits for the earlier arrivals; when it rejects, the call leaves, and those behind it go on waiting
   */
  async arrive<T>(
    key: string,
    prepare: () => Promise<void>,
    enter: () => Promise<T>,
    wait: (earlier: Promise<void>) => Promise<void> = (earlier) => earlier,
  ): Promise<T> {
    const earlier = this.#last.get(key);
    let isNext = earlier === undefined;
    let entered = () => {};
    const mine = new Promise<void>((resolve) => {
      entered = resolve;
    });
    this.#last.set(key, mine);
    try {
      if (earlier) await wait(earlier);
      isNext = true;
      await prepare();
      // Not awaited here: a call that waits in the queue must not keep the next from joining it.
      return enter();
    } finally {
      const leave = () => {
        entered();
        if (this.#last.get(key) === mine) this.#last.delete(key);
      };
      if (isNext) leave();
      else void earlier?.then(leave);
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

  /** The event that says where the state came from, how much of it was read, and how long that took. */
  loaded(
    { state, revision }: OpenedState,
    source: "store" | "delta" | "cache" | "new",
    bytes: number,
  ): EventBody {
    return {
      type: "state_loaded",
      source,
      bytes,
      messages: state.messages.length,
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
  let known: KnownState | undefined;
  const knownRevision = () => {
    known = parts.cache.known(slotText(slot));
    return known?.revision;
  };
  return underLease(parts, slot, entry, knownRevision, async (held, timer) => {
    const session = await readOrRefuse(held, async () => {
      const answer =
        held.lease.loaded === undefined
          ? await parts.stateStore.load(slot, knownRevision())
          : held.lease.loaded;
      return openAnswer(parts, held, { answer, known }, entry, (...opened) =>
        entry.emit(timer.loaded(...opened)),
      );
    });
    try {
      return await use(session);
    } finally {
      // What was salvaged is not what is stored, and its seal was not checked.
      if (!entry.salvage) putBack(parts, session);
    }
  });
}

/**
 * Reads something of a session. A call on one that cannot be read is refused, and leaves nothing behind: its words could be such that
 * nobody else can read them.
 */
export async function readOrRefuse<T>(
  { dropped, run }: Pick<HeldSlot, "dropped" | "run">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (StateCorruptError.is(error) || StateTooNewError.is(error)) dropped.push(run.runId);
    throw error;
  }
}

/** Opens the session again, from what is stored now: another process saved after this one had loaded. */
export async function reopen(
  parts: AgentParts,
  { slot, lease, run, dropped, takenOver, put }: OpenSession,
  entry: EntryOptions,
): Promise<OpenSession> {
  const known = parts.cache.known(slotText(slot));
  const held = { slot, lease, run, dropped, takenOver, put, now: parts.now };
  const found = await readOrRefuse(held, () => loadWhole(parts.stateStore, slot, known?.revision));
  return openFound(parts, held, { found, known }, entry);
}

/** Runs `use` with the slot's lease, without loading its state: what cannot be read can still be deleted. */
export function withLease<T>(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  use: (held: HeldSlot) => Promise<T>,
): Promise<T> {
  return underLease(parts, slot, entry, undefined, use);
}

function underLease<T>(
  parts: AgentParts,
  slot: Slot,
  entry: EntryOptions,
  known: (() => Revision | undefined) | undefined,
  use: (held: HeldSlot, timer: EntryTimer) => Promise<T>,
): Promise<T> {
  const prepare = async () => entry.prepare?.();
  const arrivedAt = performance.now();
  let waitedMs = 0;
  const wait = async (earlier: Promise<void>): Promise<void> => {
    if (entry.wait === false) throw arriving(slot);
    await untilLeft(slot, entry, entry.queueTimeoutMs, (signal) => orAborted(earlier, signal));
    waitedMs = performance.now() - arrivedAt;
  };
  const enter = async (): Promise<T> => {
    const timer = new EntryTimer();
    const lease = await acquire(parts, slot, { entry, timer, known, waitedMs });
    timer.entered();
    entry.onEnter?.();
    const { runId, callId } = entry;
    const dropped: string[] = [];
    const takenOver = new Set<string>();
    const put = new Set<string>();
    const run = { runId, callId };
    try {
      return await use({ slot, lease, run, dropped, takenOver, put, now: parts.now }, timer);
    } finally {
      // No round trip where the last save carried the release.
      await lease.release(dropped).catch(() => undefined);
    }
  };
  return parts.arrivals.arrive(slotText(slot), prepare, enter, wait);
}

function arriving(slot: Slot): SessionBusyError {
  return new SessionBusyError(
    `another call on ${describeSlot(slot)} is about to run; this call may not wait: try again later`,
  );
}

/** Details of {@link acquire}. */
interface Acquisition {
  readonly entry: EntryOptions;
  readonly timer: EntryTimer;
  readonly known: (() => Revision | undefined) | undefined;
  /** Part of `queueTimeoutMs` that has passed. */
  readonly waitedMs: number;
}

function acquire(
  parts: AgentParts,
  slot: Slot,
  { entry, timer, known, waitedMs }: Acquisition,
): Promise<Lease> {
  const { queueTimeoutMs } = entry;
  const leftMs = queueTimeoutMs === undefined ? undefined : Math.max(queueTimeoutMs - waitedMs, 1);
  return untilLeft(slot, entry, leftMs, (signal) =>
    parts.gate.acquire(slot, {
      callId: entry.callId,
      put: entry.put?.(),
      known,
      signal,
      wait: entry.wait,
      maxQueue: parts.settings.maxQueue,
      onWait: (ahead) => {
        entry.emit({ type: "queue_wait", ahead });
        timer.waiting();
        entry.onWait?.();
      },
    }),
  );
}

/** Runs `wait` with a signal that aborts when the call's does, or after `timeoutMs`. */
async function untilLeft<T>(
  slot: Slot,
  { queueTimeoutMs, signal }: EntryOptions,
  timeoutMs: number | undefined,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined && signal) return wait(signal);
  const leave = new AbortController();
  const forward = () => leave.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener("abort", forward, { once: true });
  const giveUp = () => {
    const waited = `busy for ${queueTimeoutMs} ms (queueTimeoutMs)`;
    leave.abort(new SessionBusyError(`${describeSlot(slot)} was ${waited}`));
  };
  const timeout =
    timeoutMs === undefined ? undefined : setTimeout(giveUp, Math.min(timeoutMs, longestTimerMs));
  try {
    return await wait(leave.signal);
  } finally {
    clearTimeout(timeout);
    signal?.removeEventListener("abort", forward);
  }
}
