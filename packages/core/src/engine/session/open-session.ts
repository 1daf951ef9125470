import { LeaseLostError, StateCorruptError } from "../../errors/store-errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { JsonObject } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import { repairToolPairs } from "../../message/repair-tool-pairs.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { LogMark } from "../../ports/conversation-log.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { LiveState, type StoredParts } from "../../state/live-state.js";
import { LogBatch } from "../save/log-batch.js";
import { closeCalls, openCallsOf } from "../tools/close-calls.js";
import { rememberUnfinished } from "./finished-calls.js";

/** A session's state and where in the store it comes from. */
export interface OpenedState {
  readonly state: LiveState;
  /** Null when nothing is stored. */
  readonly revision: Revision | null;
}

/** How to put right what a crash left. */
export interface TidyOptions {
  /** Take back the step saves of a run that died, instead of going on from them. */
  readonly takeBackUnfinished?: boolean | undefined;
  emit(event: EventBody): void;
}

/** A slot while this process holds its lease: the state, where it came from, and what the log has not seen yet. */
export class OpenSession {
  readonly slot: Slot;
  readonly lease: Lease;
  readonly log: LogBatch;
  state: LiveState;
  /** The stored revision `state` is based on; null when nothing is stored. */
  revision: Revision | null;
  /** What was said since the session was opened, by id, in order. */
  readonly said: Map<string, Message> = new Map();
  /** Whether part of what was said is stored already, or may be: a conflict does not take that out of the session. */
  hasSavedSteps = false;
  #baseHead: JsonObject;

  constructor(slot: Slot, lease: Lease, loaded: OpenedState, callId: string, now: () => Date) {
    this.slot = slot;
    this.lease = lease;
    this.log = new LogBatch(callId, now);
    this.state = loaded.state;
    this.revision = loaded.revision;
    this.#baseHead = plainHead(loaded.state);
  }

  /** The head before anything was changed here: what a rollback and a merge go back to. */
  get baseHead(): JsonObject {
    return this.#baseHead;
  }

  /** Adds something newly said to the context; `original` is what the log keeps of it. */
  say(message: Message, original: Message = message): void {
    if (original !== message) this.log.remember(original);
    this.state.contextMutable().push(message);
    this.said.set(message.id, message);
  }

  /** Takes in what hooks pushed past {@link say}: it was said here as well, and the log has to know. */
  gather(): void {
    const pushed = this.state.takePushed();
    for (const message of pushed) this.said.set(message.id, message);
    this.log.add(pushed);
  }

  /** Leaves a mark in the log, behind what was said so far. */
  mark(mark: LogMark): void {
    this.gather();
    this.log.mark(mark);
  }

  /** Takes back everything said since the session was opened; a compaction made meanwhile stays. */
  takeBack(): void {
    this.gather();
    this.#remove(new Set(this.said.keys()));
    this.state.restoreHead(this.baseHead);
    this.said.clear();
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

  /** Puts right what a crash left. None of it is part of the call that finds it. */
  tidy(entry: TidyOptions): void {
    this.#settleUnfinished(entry.takeBackUnfinished ?? false);
    this.#repair(entry.emit);
    this.gather();
    this.said.clear();
    this.#baseHead = plainHead(this.state);
  }

  /** The step saves of a run that died are taken back, or kept like those of a call that failed. */
  #settleUnfinished(takeBack: boolean): void {
    const { state } = this;
    const run = state.unfinishedRun;
    if (!run) return;
    if (takeBack) {
      this.#remove(new Set(run.messageIds));
      state.restoreHead(run.before);
      this.log.endOf(run.callId, "rolled_back");
    } else {
      // Said before anything else is: what a repeated call says is not the dead one's, and may be taken back.
      this.log.endOf(run.callId, "error");
      // No one was asked about them yet, so that nobody will answer.
      closeCalls(this);
      if (!run.inputUnsaid) rememberUnfinished(state, run.callId);
    }
    state.unfinishedRun = null;
  }

  /** Calls that were running have an unknown outcome; everything else unpaired that is not listed is repaired. */
  #repair(emit: TidyOptions["emit"]): void {
    const { state } = this;
    closeCalls(this, (callState) => callState === "started");
    const open = new Set(openCallsOf(state).map(({ call }) => call.id));
    for (const id of Object.keys(state.openCalls)) if (!open.has(id)) delete state.openCalls[id];
    const { messages, repairs } = repairToolPairs(state.context, open);
    if (repairs.length === 0) return;
    state.contextMutable().replaceAll(messages);
    emit({ type: "repaired", repairs });
  }
}

/**
 * The state in what a store returned.
 *
 * @throws StateCorruptError also when it is another session's
 */
export function stateOf(slot: Slot, loaded: StoredParts): LiveState {
  const state = LiveState.fromParts(loaded);
  if (state.sessionId !== slot.sessionId || state.userId !== slot.userId)
    throw new StateCorruptError(
      `the store returned the state of another session for ${describeSlot(slot)}`,
    );
  return state;
}

function plainHead(state: LiveState): JsonObject {
  return JSON.parse(JSON.stringify(state.head())) as JsonObject;
}
