import { InvalidInputError } from "../../errors/errors.js";
import { LeaseLostError, StateCorruptError } from "../../errors/store-errors.js";
import type { EventBody } from "../../events/agent-event.js";
import { isRecord, type JsonObject, toJsonValue } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { LogMark } from "../../ports/conversation-log.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { LiveState, type StoredParts } from "../../state/live-state.js";
import type { OpenCallState, RunRecord, UnfinishedRun } from "../../state/sections.js";
import { LogBatch, type RunName } from "../save/log-batch.js";
import { savedSteps } from "../save/save-failure.js";
import { closeCalls, openCallsOf, UNKNOWN_OUTCOME_TEXT } from "../tools/close-calls.js";

/** A session's state and where in the store it comes from. */
export interface OpenedState {
  readonly state: LiveState;
  /** Null when nothing is stored. */
  readonly revision: Revision | null;
}

/** A slot whose lease this process holds, and the run that holds it. */
export interface HeldSlot {
  readonly slot: Slot;
  readonly lease: Lease;
  readonly run: RunName;
  /** See {@link OpenSession.dropped}. */
  readonly dropped: string[];
  /** Runs that were found unfinished, and reported. */
  readonly takenOver: Set<string>;
  /** Ids of entries that the call put into the inbox after it had the lease. */
  readonly put: Set<string>;
  now(): Date;
}

/** Settings of {@link OpenSession.tidy}. */
export interface TidyOptions {
  /** Take back the step saves of a run that died, instead of going on from them. */
  readonly takeBackUnfinished?: boolean | undefined;
  emit(event: EventBody): void;
  /** Keeps the record of a named call that died. */
  remember(record: RunRecord): void;
  /** Takes in the input of a run that died before its context had it. */
  takeInput(session: OpenSession, run: UnfinishedRun): void;
}

/** A slot while this process holds its lease: the state, where it came from, and what the log has not seen yet. */
export class OpenSession {
  readonly slot: Slot;
  readonly lease: Lease;
  readonly run: RunName;
  readonly log: LogBatch;
  /** Revision that was stored when the session was opened. */
  readonly startedFrom: Revision | null;
  state: LiveState;
  /** Record of a named call, to be kept beside the head by the next save. */
  record: RunRecord | undefined;
  /** Ids of inbox entries that the context has taken in; the next save removes them. */
  readonly taken: Set<string> = new Set();
  /** Those among them that were found there: entries of other calls. */
  readonly found: Set<string> = new Set();
  /** Run that the present one goes on with, and the input of it that the present one answers. */
  continued: { readonly runId: string | undefined; readonly input: readonly Message[] } | null =
    null;
  /** Ids of messages of interrupts and of `steer` that were found in the inbox. */
  readonly heard: Set<string> = new Set();
  /** Ids of those that the running call was steered with. */
  readonly steered: Set<string> = new Set();
  /** Entries of `steer` that have to wait until no tool call is open. */
  readonly deferred: InboxEntry[] = [];
  /** Ids of inbox entries that go when the lease does: those of a call that was refused or answered from its record. */
  readonly dropped: string[];
  /** Runs that were found unfinished, and reported. */
  readonly takenOver: Set<string>;
  /** Ids of entries that the call put into the inbox after it had the lease. */
  readonly put: Set<string>;
  /** The stored revision `state` is based on; null when nothing is stored. */
  revision: Revision | null;
  /** Messages said since the session was opened, by id, in order. */
  readonly said: Map<string, Message> = new Map();
  /** True once part of what was said is stored, or may be: a conflict does not take that out of the session. */
  hasSavedSteps = false;
  /** Tool calls that an earlier run of the same call had approved are still to run. */
  goesOn = false;
  /** Revisions that ends in the log named and that were stored: the state's own, and those that saves made here replaced. */
  readonly knownEnds: Set<Revision>;
  /** Head of the last save made here, as JSON. */
  savedHead = "";
  /** Number of the run's messages that are stored, or may be. */
  savedMessages = 0;
  #baseHead: JsonObject;

  constructor(held: HeldSlot, loaded: OpenedState) {
    const { slot, lease, run, dropped, takenOver, put, now } = held;
    this.slot = slot;
    this.lease = lease;
    this.run = run;
    this.dropped = dropped;
    this.takenOver = takenOver;
    this.put = put;
    this.log = new LogBatch(run, now);
    this.state = loaded.state;
    this.revision = loaded.revision;
    this.startedFrom = loaded.revision;
    this.knownEnds = new Set(loaded.state.lastEnds);
    this.#baseHead = loaded.state.head();
  }

  /** The head before anything was changed here: what a rollback and a merge go back to. */
  get baseHead(): JsonObject {
    return this.#baseHead;
  }

  /** Makes what the session holds now the base: none of it is part of the run that found it. */
  rebase(): void {
    this.gather();
    this.said.clear();
    this.#baseHead = this.state.head();
  }

  /** Notes that the context has taken in an entry of another call. */
  takeFound(entryId: string): void {
    this.taken.add(entryId);
    this.found.add(entryId);
  }

  /**
   * Leaves other runs as another process has saved them, because the session's state gives way to that: what was taken in of
   * them here is not part of it. What nobody has taken in stays in the inbox. The run that the present one goes on with is
   * answered here, and stays.
   */
  leaveFound(): void {
    const continuedId = this.continued?.runId;
    for (const id of this.found) if (id !== continuedId) this.taken.delete(id);
    this.log.forgetOthers(continuedId);
  }

  /** Tells whether the lease still holds, by its own account and by the clock, as far as the store need not be asked. */
  holdsLease(): boolean {
    const { lost, validUntil, confirm } = this.lease;
    return !lost.aborted && !(Date.now() >= validUntil && confirm === undefined);
  }

  /** Waits while the lease is in doubt: in that time nothing may begin. Resolves when it holds or is lost. */
  async settleLease(): Promise<void> {
    const { lease } = this;
    if (Date.now() >= lease.validUntil && !lease.lost.aborted)
      await lease.confirm?.().catch(() => undefined);
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

  /** Adds an answer about open tool calls to the context. It is the input of `run`, whichever run adds it. */
  sayAnswer(run: RunName, say: () => void): void {
    this.gather();
    say();
    const answer = this.state.takePushed();
    if (run.runId !== this.run.runId) {
      this.log.addInput(run, answer);
      return;
    }
    this.log.expectInput(answer);
    this.log.add(answer);
  }

  /** Ends a run that died, whose answer the context has now. Tools that it approved may have run: the same call alone runs them. */
  settleAnswer(run: RunName): void {
    closeCalls(this, { which: (state) => state === "allowed", text: UNKNOWN_OUTCOME_TEXT });
    this.log.addRepairs(run, this.state.takePushed());
    this.log.endOf(run, "error", null);
  }

  /** Leaves a mark in the log, behind what was said so far. @throws InvalidInputError when the log could not keep it */
  mark(mark: LogMark): void {
    const copy: unknown = toJsonValue(mark, "the mark");
    if (!isRecord(copy) || typeof copy["name"] !== "string" || copy["name"] === "")
      throw new InvalidInputError("a mark needs a name, which is a non-empty string");
    if (copy["details"] !== undefined && !isRecord(copy["details"]))
      throw new InvalidInputError("the details of a mark must be an object");
    this.gather();
    this.log.mark(copy as unknown as LogMark);
  }

  /** Takes back everything said since the session was opened; a compaction made meanwhile stays. */
  takeBack(): void {
    this.gather();
    this.#remove(new Set(this.said.keys()));
    this.state.restoreHead(this.baseHead);
    this.said.clear();
  }

  /** Takes the words that the run was steered with out of the context; the log keeps them. */
  dropSteered(): void {
    this.#remove(this.steered);
  }

  /** Id of the last message of the run, or of the last that it was steered with. */
  get lastId(): string | undefined {
    const { messageIds } = this.log;
    if (this.steered.size === 0) return messageIds.at(-1);
    const own = new Set([...messageIds, ...this.steered]);
    return this.state.messages.findLast(({ id }) => own.has(id))?.id ?? messageIds.at(-1);
  }

  /** Reports a run that had begun and never ended, once, however often the session has to be opened. */
  reportTakeover(
    { callId, runId }: { readonly callId: string; readonly runId?: string | undefined },
    {
      takeBackUnfinished: rolledBack = false,
      emit,
    }: Pick<TidyOptions, "takeBackUnfinished" | "emit">,
  ): void {
    const key = runId ?? callId;
    if (this.takenOver.has(key)) return;
    this.takenOver.add(key);
    const lostRunId = runId !== undefined && { lostRunId: runId };
    emit({ type: "takeover", lostCallId: callId, ...lostRunId, rolledBack });
  }

  /** The error of a call whose lease ended before it did. */
  leaseLost(): LeaseLostError {
    return new LeaseLostError(
      `the lease of ${describeSlot(this.slot)} was lost while its call ran; another process may hold it. ${savedSteps(this)}Repeat the call`,
      { cause: this.lease.lost.reason },
    );
  }

  #remove(ids: ReadonlySet<string>): void {
    this.state.contextMutable().replaceAll(this.state.messages.filter(({ id }) => !ids.has(id)));
  }

  /** Puts right what a crash left. None of it is part of the call that finds it. */
  tidy(entry: TidyOptions): void {
    const run = this.state.unfinishedRun;
    if (run) this.#settle(run, entry);
    this.#repair(run ?? this.run, entry.emit);
    this.rebase();
  }

  /** The step saves of a run that died are taken back, or kept like those of a call that failed. */
  #settle(run: UnfinishedRun, entry: TidyOptions): void {
    const { state } = this;
    const { messageIds } = run;
    this.reportTakeover(run, entry);
    if (entry.takeBackUnfinished) {
      this.#remove(new Set(messageIds));
      state.restoreHead(run.before);
      this.log.endOf(run, "rolled_back", messageIds.length);
    } else {
      // Nothing was asked about them yet, so that no answer will come. What a person approved, only the same call runs.
      const isRepeated = run.callId === this.run.callId;
      const closing = this.#close(run, (state) => !isRepeated || state !== "allowed");
      this.goesOn = Object.keys(state.openCalls).length > 0;
      this.log.endOf(run, "error", messageIds.length);
      if (!run.inputUnsaid) {
        const record = recordOfDead(run, closing.at(-1)?.id, this.log.now());
        state.resumableRun = record;
        if (run.named ?? true) entry.remember(record);
      }
    }
    state.unfinishedRun = null;
    if (run.input) entry.takeInput(this, run);
  }

  /** Answers open calls of an earlier run, and returns the answers; the log has them under that run. */
  #close(
    run: RunName | UnfinishedRun,
    which: (state: OpenCallState) => boolean,
  ): readonly Message[] {
    this.gather();
    // Its process may have gone on after its last save.
    closeCalls(this, { which, text: UNKNOWN_OUTCOME_TEXT });
    const answers = this.state.takePushed();
    this.log.addRepairs(run, answers);
    return answers;
  }

  /** Calls that were running have an unknown outcome; everything else unpaired that is not listed is repaired. */
  #repair(run: RunName | UnfinishedRun, emit: TidyOptions["emit"]): void {
    const { state } = this;
    this.#close(run, (callState) => callState === "started");
    const open = new Set(openCallsOf(state).map(({ call }) => call.id));
    for (const id of Object.keys(state.openCalls)) if (!open.has(id)) delete state.openCalls[id];
    const { messages, repairs } = state.pairedMessages(open);
    if (repairs.length === 0) return;
    state.contextMutable().replaceAll(messages);
    emit({ type: "repaired", repairs });
  }
}

function recordOfDead(run: UnfinishedRun, closingId: string | undefined, now: Date): RunRecord {
  const { runId, callId, inputHash, inputIds, messageIds } = run;
  const lastId = closingId ?? run.lastId ?? messageIds.at(-1);
  return {
    ...{ callId, messageId: "", reason: "error", at: now.toISOString() },
    ...(runId !== undefined && { runId }),
    ...(inputHash !== undefined && { inputHash }),
    // A run of an earlier release named no input: what it said begins with it.
    inputIds: inputIds ?? messageIds.slice(0, 1),
    ...(lastId !== undefined && { lastId }),
  };
}

/**
 * The state in what a store returned.
 *
 * @param salvage - leaves out what cannot be read, instead of throwing
 * @throws StateCorruptError also when it is another session's
 */
export function stateOf(slot: Slot, loaded: StoredParts, salvage = false): LiveState {
  const { sessionId, userId } = slot;
  if (salvage) return LiveState.salvage(loaded, { sessionId, userId });
  let state: LiveState;
  try {
    state = LiveState.fromParts(loaded);
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    throw damaged(slot, error.message, error);
  }
  if (state.sessionId !== sessionId || state.userId !== userId)
    throw damaged(slot, "the store returned the state of another session");
  return state;
}

function damaged(slot: Slot, problem: string, cause?: unknown): StateCorruptError {
  return new StateCorruptError(
    `${describeSlot(slot)} is damaged: ${problem}. Read what is left of it with getAgentState(…, { salvage: true }), repair it with updateAgentState(…, edit, { salvage: true }), keep a copy with "holdfast sessions export", or remove it with deleteSession`,
    { cause },
  );
}
