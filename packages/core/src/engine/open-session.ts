import { LeaseLostError, SessionBusyError } from "../errors/index.js";
import type { EventBody } from "../events/agent-event.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import { repairToolPairs } from "../message/repair-tool-pairs.js";
import type { Revision } from "../ports/agent-state-store.js";
import type { Lease } from "../ports/session-gate.js";
import { describeSlot, type Slot, slotText } from "../slot/slot.js";
import { AgentState } from "../state/agent-state.js";
import { isRunBack } from "../store/revision.js";
import type { AgentParts } from "./agent-parts.js";
import { closeCalls } from "./close-calls.js";
import { LogBatch } from "./log-batch.js";
import type { CachedState, StateCache } from "./state-cache.js";

/** How to get hold of a session. */
export interface OpenOptions {
  readonly callId: string;
  /** Leaves the queue. */
  readonly signal?: AbortSignal | undefined;
  readonly wait?: boolean | undefined;
  readonly queueTimeoutMs?: number | undefined;
  emit(event: EventBody): void;
}

/** A slot while this process holds its lease: the state, where it came from, and what the log has not seen yet. */
export class OpenSession {
  readonly slot: Slot;
  readonly lease: Lease;
  readonly log: LogBatch;
  state: AgentState;
  /** The stored revision `state` is based on; null when nothing is stored. */
  revision: Revision | null;
  /** Head and messages before anything was changed here: what a rollback and a merge go back to. */
  readonly baseHead: JsonObject;
  /** Ids of the messages that were said since the session was opened. */
  readonly said: Set<string> = new Set();

  private constructor(
    slot: Slot,
    lease: Lease,
    log: LogBatch,
    loaded: { state: AgentState; revision: Revision | null },
  ) {
    this.slot = slot;
    this.lease = lease;
    this.log = log;
    this.state = loaded.state;
    this.revision = loaded.revision;
    this.baseHead = JSON.parse(JSON.stringify(loaded.state.head()));
  }

  /**
   * Waits for the slot's turn and loads its state.
   *
   * @throws SessionBusyError | StoreError | whatever `options.signal` was aborted with
   */
  static async open(
    parts: AgentParts,
    cache: StateCache,
    slot: Slot,
    options: OpenOptions,
  ): Promise<OpenSession> {
    const key = slotText(slot);
    let candidate: CachedState | undefined;
    const known = () => {
      candidate = cache.peek(key);
      return candidate?.revision;
    };
    const lease = await acquire(parts, slot, options, known);
    try {
      const answer =
        lease.loaded === undefined ? await parts.stateStore.load(slot, known()) : lease.loaded;
      cache.take(key);
      const log = new LogBatch(options.callId, parts.now);
      if (answer === "unchanged" && candidate) return new OpenSession(slot, lease, log, candidate);
      const loaded = answer === "unchanged" ? await parts.stateStore.load(slot) : answer;
      if (candidate && isRunBack(candidate.revision, loadedRevision(loaded)))
        options.emit({
          type: "run_back",
          known: candidate.revision,
          stored: loadedRevision(loaded),
        });
      if (loaded === null || loaded === "unchanged")
        return new OpenSession(slot, lease, log, {
          state: AgentState.create(slot),
          revision: null,
        });
      const state = AgentState.fromParts(loaded);
      const session = new OpenSession(slot, lease, log, { state, revision: loaded.revision });
      session.#repair(options.emit);
      return session;
    } catch (error) {
      await lease.release().catch(() => undefined);
      throw error;
    }
  }

  /** Adds something newly said to the context; `original` is what the log keeps of it. */
  say(message: Message, original: Message = message): void {
    if (original !== message) this.log.remember(original);
    this.state.contextMutable().push(message);
    this.said.add(message.id);
  }

  /** Takes back everything said since the session was opened; a compaction made meanwhile stays. */
  takeBack(): void {
    this.#remove(this.said);
    this.state.restoreHead(this.baseHead);
    this.said.clear();
  }

  /** Takes back the step saves of a run that died. */
  takeBackUnfinished(): void {
    const run = this.state.unfinishedRun;
    if (!run) return;
    this.#remove(new Set(run.messageIds));
    this.state.restoreHead({ ...run.before, unfinishedRun: null });
  }

  /** The error of a call whose lease ended before it did. */
  leaseLost(): LeaseLostError {
    return new LeaseLostError(
      `the lease of ${describeSlot(this.slot)} was lost while its call ran; another process may hold it. Repeat the call`,
      { cause: this.lease.lost.reason },
    );
  }

  #remove(ids: ReadonlySet<string>): void {
    this.state.contextMutable().replaceAll(this.state.context.filter(({ id }) => !ids.has(id)));
  }

  /** What a crash left: calls that were running have an unknown outcome, everything else unpaired is repaired. */
  #repair(emit: OpenOptions["emit"]): void {
    const { state } = this;
    closeCalls(this, (callState) => callState === "started");
    const open = new Set(Object.keys(state.openCalls));
    const { messages, repairs } = repairToolPairs(state.context, open);
    if (repairs.length === 0) return;
    state.contextMutable().replaceAll(messages);
    const last = messages.findLast(({ role }) => role === "assistant");
    const present = new Set(
      last?.content.map((block) => (block.type === "tool_call" ? block.id : "")),
    );
    for (const id of open) if (!present.has(id)) delete state.openCalls[id];
    emit({ type: "repaired", repairs });
  }
}

function loadedRevision(loaded: { revision: Revision } | "unchanged" | null): Revision {
  return loaded === null || loaded === "unchanged" ? "0.none" : loaded.revision;
}

async function acquire(
  parts: AgentParts,
  slot: Slot,
  options: OpenOptions,
  known: () => Revision | undefined,
): Promise<Lease> {
  const { queueTimeoutMs, signal } = options;
  const leave = new AbortController();
  const forward = () => leave.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener("abort", forward, { once: true });
  const timer =
    queueTimeoutMs === undefined
      ? undefined
      : setTimeout(
          () =>
            leave.abort(
              new SessionBusyError(
                `${describeSlot(slot)} was busy for ${queueTimeoutMs} ms (queueTimeoutMs)`,
              ),
            ),
          queueTimeoutMs,
        );
  try {
    return await parts.gate.acquire(slot, {
      callId: options.callId,
      known,
      signal: leave.signal,
      wait: options.wait,
      maxQueue: parts.settings.maxQueue,
      onWait: (ahead) => options.emit({ type: "queue_wait", ahead }),
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", forward);
  }
}
