import { SessionBusyError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { LoadedState, Revision } from "../../ports/agent-state-store.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { LiveState } from "../../state/live-state.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { isRolledBack } from "../../store-kit/revision.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { RunName } from "../save/log-batch.js";
import { type HeldSlot, type OpenedState, OpenSession, stateOf } from "./open-session.js";
import { remember } from "./run-records.js";
import type { CachedState } from "./state-cache.js";
import { orAborted } from "./stop-switch.js";
import { takeDeadInput } from "./take-in.js";

/** Settings of one entry into a session. */
export interface EntryOptions extends RunName {
  /** Returns the call's input, to be kept in the session's inbox from the moment it holds the lease. */
  put?(): InboxEntry | undefined;
  /** Leaves the queue when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: fail instead of queueing. @default true */
  readonly wait?: boolean | undefined;
  readonly queueTimeoutMs?: number | undefined;
  /** Take back the step saves of a run that died, instead of going on from them. */
  readonly takeBackUnfinished?: boolean | undefined;
  /** Reads a damaged state as far as it goes, instead of failing. */
  readonly salvage?: boolean | undefined;
  /** Runs before the call joins the queue, in the order in which calls were made. */
  prepare?(): Promise<void>;
  /** Called when another call holds the slot. */
  onWait?(): void;
  /** Called once the slot is held. */
  onEnter?(): void;
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

  /** The event that says where the state came from, and how long it took. */
  loaded({ state, revision }: OpenedState, source: "store" | "cache" | "new"): EventBody {
    const read = () => Buffer.byteLength(JSON.stringify(state.head())) + state.contextBytes();
    return {
      type: "state_loaded",
      source,
      bytes: source === "store" ? read() : 0,
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
  const key = slotText(slot);
  let cached: CachedState | undefined;
  const known = () => {
    cached = parts.cache.peek(key);
    return cached?.revision;
  };
  return underLease(parts, slot, entry, known, async (held, timer) => {
    const { lease } = held;
    const answer =
      lease.loaded === undefined ? await parts.stateStore.load(slot, known()) : lease.loaded;
    parts.cache.take(key);
    if (answer === "unchanged" && cached) {
      entry.emit(timer.loaded(cached, "cache"));
      return use(new OpenSession(held, cached));
    }
    const found = wholeState(answer === "unchanged" ? await parts.stateStore.load(slot) : answer);
    const stored = found?.revision ?? "0.none";
    if (cached && isRolledBack(cached.revision, stored))
      entry.emit({ type: "store_rolled_back", known: cached.revision, stored });
    return use(
      openLoaded(parts, held, found, entry, (opened) =>
        entry.emit(timer.loaded(opened, found ? "store" : "new")),
      ),
    );
  });
}

/** Opens the session again, from what is stored now: another process saved after this one had loaded. */
export async function reopen(
  parts: AgentParts,
  { slot, lease, run, dropped, takenOver }: OpenSession,
  entry: EntryOptions,
): Promise<OpenSession> {
  const found = wholeState(await parts.stateStore.load(slot));
  return openLoaded(parts, { slot, lease, run, dropped, takenOver, now: parts.now }, found, entry);
}

function openLoaded(
  parts: AgentParts,
  held: HeldSlot,
  found: LoadedState | null,
  entry: EntryOptions,
  onOpen: (opened: OpenedState) => void = () => undefined,
): OpenSession {
  const { slot } = held;
  const opened: OpenedState = found
    ? { state: readState(parts, held, found, entry.salvage), revision: found.revision }
    : { state: LiveState.create(slot), revision: null };
  onOpen(opened);
  const session = new OpenSession(held, opened);
  if (found)
    session.tidy({
      takeBackUnfinished: entry.takeBackUnfinished,
      emit: (event) => entry.emit(event),
      remember: (record) => remember(parts, session, record),
      takeInput: (open, run) => takeDeadInput(parts, open, run, entry),
    });
  return session;
}

/** A call on a session that cannot be read is refused, and leaves nothing behind. */
function readState(
  { seal }: AgentParts,
  held: HeldSlot,
  found: LoadedState,
  salvage: boolean | undefined,
): LiveState {
  try {
    if (!salvage) seal?.check(held.slot, found.head);
    return stateOf(held.slot, found, salvage);
  } catch (error) {
    held.dropped.push(held.run.runId);
    throw error;
  }
}

function wholeState(answer: LoadedState | "unchanged" | null): LoadedState | null {
  return answer === "unchanged" ? null : answer;
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
    const run = { runId, callId };
    try {
      return await use({ slot, lease, run, dropped, takenOver, now: parts.now }, timer);
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
