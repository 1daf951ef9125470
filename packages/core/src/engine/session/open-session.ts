import { InvalidInputError } from "../../errors/errors.js";
import { LeaseLostError } from "../../errors/store-errors.js";
import type { EventBody } from "../../events/agent-event.js";
import { isRecord, type JsonObject, toJsonValue } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { LogMark } from "../../ports/conversation-log.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import type { LiveState } from "../../state/live-state.js";
import type { RunRecord } from "../../state/sections.js";
import { LogBatch, type RunName } from "../save/log-batch.js";
import { savedSteps } from "../save/save-failure.js";
import { closeCalls, UNKNOWN_OUTCOME_TEXT } from "../tools/close-calls.js";

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

/** Contents of a state when it was loaded. */
interface LoadedMark {
  readonly head: JsonObject;
  readonly messages: number;
  readonly listedTitle: string | undefined;
}

/** Settings of a call that finds runs which had begun and never ended. */
export interface TakeoverOptions {
  /** Take back the step saves of a run that died, instead of going on from them. */
  readonly takeBackUnfinished?: boolean | undefined;
  emit(event: EventBody): void;
}

/** Run that another one goes on with. */
interface ContinuedRun {
  readonly runId: string | undefined;
  /** Its messages that the present run answers. */
  readonly input: readonly Message[];
  /** Id of its last message. */
  readonly lastId: string | undefined;
}

/** A slot while this process holds its lease: the state, where it came from, and what the log has not seen yet. */
export class OpenSession {
  readonly slot: Slot;
  readonly lease: Lease;
  readonly run: RunName;
  readonly log: LogBatch;
  /** Revision that was stored when the session was opened. */
  readonly startedFrom: Revision | null;
  /** Contents of the state then, before anything was put right. */
  readonly loaded: LoadedMark;
  state: LiveState;
  /** Record of a named call, to be kept beside the head by the next save. */
  record: RunRecord | undefined;
  /** Ids of inbox entries that the context has taken in; the next save removes them. */
  readonly taken: Set<string> = new Set();
  /** Those among them that were found there: entries of other calls. */
  readonly found: Set<string> = new Set();
  /** Run that the present one goes on with. */
  continued: ContinuedRun | null = null;
  /** Ids of messages that answer open calls of a run that died, which it could not say itself. */
  readonly closingIds: Set<string> = new Set();
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
  /** Messages that were replaced since the session was opened, as they were then, by id. */
  readonly replaced: Map<string, Message> = new Map();
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
    const { messages, listedTitle } = loaded.state;
    this.loaded = { head: this.#baseHead, messages: messages.length, listedTitle };
  }

  /** The head before anything was changed here: what a rollback and a merge go back to. */
  get baseHead(): JsonObject {
    return this.#baseHead;
  }

  /** Makes what the session holds now the base: none of it is part of the run that found it. */
  rebase(): void {
    this.gather();
    this.said.clear();
    this.replaced.clear();
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
    return holds(this.lease);
  }

  /** Tells whether the lease has to be confirmed: until then nothing may begin. */
  isLeaseInDoubt(): boolean {
    return Date.now() >= this.lease.validUntil && !this.lease.lost.aborted;
  }

  /** Waits while the lease is in doubt; resolves when it holds or is lost. */
  async confirmLease(): Promise<void> {
    await this.lease.confirm?.().catch(() => undefined);
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

  /**
   * Adds an answer about open tool calls to the context. It is the input of `run`, whichever run adds it.
   *
   * @param say - adds its message, if it has one, under the given id: one that every run gives it, because an earlier one may
   * have logged it
   */
  sayAnswer(run: RunName, say: (messageId: string) => void): void {
    this.gather();
    say(run.runId);
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
    this.remove(new Set(this.said.keys()));
    this.#putBack();
    this.state.restoreHead(this.baseHead);
    this.said.clear();
  }

  #putBack(): void {
    for (const [id, original] of this.replaced) {
      const index = this.state.messages.findLastIndex((message) => message.id === id);
      if (index >= 0) this.state.contextMutable().replace(index, original);
    }
    this.replaced.clear();
  }

  /** Takes the words that the run was steered with out of the context; the log keeps them. */
  dropSteered(): void {
    this.remove(this.steered);
  }

  /** Id of the last message of the run, of the last that it was steered with, or of the last of the run it goes on with. */
  get lastId(): string | undefined {
    const { messageIds } = this.log;
    const ownId = messageIds.at(-1) ?? this.continued?.lastId;
    if (this.steered.size === 0) return ownId;
    const own = new Set([...messageIds, ...this.steered]);
    return this.state.messages.findLast(({ id }) => own.has(id))?.id ?? ownId;
  }

  /** Reports a run that had begun and never ended, once, however often the session has to be opened. */
  reportTakeover(
    { callId, runId }: { readonly callId: string; readonly runId?: string | undefined },
    { takeBackUnfinished: rolledBack = false, emit }: TakeoverOptions,
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

  /** Takes messages out of the context. */
  remove(ids: ReadonlySet<string>): void {
    this.state.contextMutable().replaceAll(this.state.messages.filter(({ id }) => !ids.has(id)));
  }
}

/** Tells whether a lease still holds, and waits for that while it is in doubt. */
export async function stillHolds(lease: Lease): Promise<boolean> {
  if (Date.now() >= lease.validUntil) await lease.confirm?.().catch(() => undefined);
  return holds(lease);
}

function holds({ lost, validUntil, confirm }: Lease): boolean {
  return !lost.aborted && !(Date.now() >= validUntil && confirm === undefined);
}
