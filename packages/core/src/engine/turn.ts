import {
  HoldfastError,
  LeaseLostError,
  StateConflictError,
  StateTooLargeError,
} from "../errors/index.js";
import type { AgentReply } from "../events/agent-reply.js";
import { textOf } from "../message/read-message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import { compose } from "./assemble/compose.js";
import type { ReadInput } from "./call-input.js";
import { type CallScope, stepOf } from "./call-scope.js";
import { attach, failTurn, lastSave, stopTurn, type TurnProgress } from "./failed-turn.js";
import { type LoopEnd, runLoop } from "./loop/loop.js";
import { earlierRun, ownRun, replay, reportResumed, sameRequest } from "./repeated-request.js";
import { type CheckedSections, checkState } from "./save/check-state.js";
import { saveOpening } from "./save/save-opening.js";
import { saveSession } from "./save/save-session.js";
import { recordUnsaved } from "./save/write-log.js";
import { type EntryOptions, readOrRefuse, reopen } from "./session/enter-session.js";
import type { OpenSession } from "./session/open-session.js";
import { isUnfinished, recordOfRun, remember } from "./session/run-records.js";
import { callAborted } from "./session/stop-switch.js";
import { takeIn } from "./session/take-in.js";
import { addressedHere } from "./session/take-steered.js";
import { type TurnInput, takeTurnInput } from "./turn-input.js";

/** Request of a call to its session. */
export interface Request {
  /** Null: go on with an unfinished run. */
  readonly input: ReadInput | null;
  scopeOf(session: OpenSession): CallScope;
}

/** Thrown when a session has no unfinished run that a call without input could go on with; never reaches a caller. */
export class NothingToResume extends Error {
  override readonly name = "NothingToResume";
}

/** Attempts at a first save that saves of others come before. */
const maxOpenings = 8;

/**
 * Serves a request on its open session: a new one by a turn of reasoning and acting, a repeated one from its record when it was
 * finished, and by going on with its own run when it was not.
 *
 * @throws CallIdReusedError when the `callId` names an earlier call with another input
 */
export async function takeTurn(
  opened: OpenSession,
  entry: EntryOptions,
  { input, scopeOf }: Request,
): Promise<AgentReply> {
  let session = opened;
  let stale: StaleSession | undefined;
  for (let attempt = 1; ; attempt++) {
    const scope = scopeOf(session);
    try {
      const reply = await serve(scope, entry, input, stale);
      if (stale) await endUnsaved(scope);
      return reply;
    } catch (error) {
      const isStale = error instanceof StaleSession;
      if (isStale && attempt < maxOpenings) stale = error;
      else {
        if (stale) await endUnsaved(scope);
        throw isStale ? error.cause : error;
      }
    }
    session = await reopen(scope.parts, session, entry);
  }
}

/** @param stale - end of an earlier attempt, before which another process saved */
async function serve(
  scope: CallScope,
  entry: EntryOptions,
  input: ReadInput | null,
  stale: StaleSession | undefined,
): Promise<AgentReply> {
  const { parts, session } = scope;
  const waiting = await readOrRefuse(
    session,
    async () => session.lease.inbox ?? (await parts.stateStore.inbox?.read(session.slot)) ?? [],
  );
  const isAddressed = waiting.some(({ kind }) => kind !== "input");
  const entries = isAddressed ? await addressedHere(scope, waiting) : waiting;
  // The messages of interrupts that this call knows of are said behind its own words.
  const known = new Set(scope.stop.messages.map(({ id }) => id));
  const kept = takeIn(
    parts,
    session,
    entries.filter(({ id }) => !known.has(id)),
    entry,
  );
  const own = kept.findLast(({ callId }) => scope.named && callId === scope.callId);
  const record = earlierRun(scope, input) ?? ownRun(scope, stale?.inputIds ?? []);
  if (record && !isUnfinished(record)) {
    session.dropped.push(entry.runId);
    scope.feed?.leave();
    return replay(scope, record);
  }
  if (own) sameRequest(scope, own, input);
  if (!stale) reportResumed(scope, record, own);
  const said = input ?? own?.input ?? null;
  if (!said && !record) throw new NothingToResume("there is no unfinished run");
  await scope.feed?.claim();
  const answers = kept.filter((answer) => answer !== own);
  return new Turn(scope).run({ input: said, answers, continued: record });
}

/**
 * Ends a run in the log that was answered from a record, or refused, after another process had saved before its first save:
 * the log has its input, which was written ahead of that save.
 */
async function endUnsaved(scope: CallScope): Promise<void> {
  const { parts, session } = scope;
  if (!parts.fused.log && !session.log.hasEnded) await recordUnsaved(scope, "conflict");
}

/** Thrown when another process saved between this turn's load and its first save: nothing was done yet. */
class StaleSession extends Error {
  override readonly name = "StaleSession";
  /** Ids under which the turn was to say its input: the save may have been made, and another process found it. */
  readonly inputIds: readonly string[];

  constructor(inputIds: readonly string[], cause: unknown) {
    super("the session was saved meanwhile", { cause });
    this.inputIds = inputIds;
  }
}

/** One turn of a call that holds its session: takes the input in, runs the loop, and saves, however it ends. */
class Turn {
  readonly #scope: CallScope;
  readonly #progress: TurnProgress = { isAccepted: false, isResumed: false };

  constructor(scope: CallScope) {
    this.#scope = scope;
  }

  /** Runs the turn and saves it, however it ends. @throws StaleSession */
  async run(given: TurnInput): Promise<AgentReply> {
    const scope = this.#scope;
    let reply: AgentReply;
    try {
      const resumption = await takeTurnInput(scope, given);
      this.#progress.isResumed = resumption.resumed;
      this.#progress.isAccepted = true;
      scope.stop.check();
      await this.#open();
      reply = await compose(
        scope.parts.hooks.onCall,
        Object.assign(stepOf(scope), { input: scope.newInput }),
        async () => this.#reply(await runLoop(scope, resumption)),
      );
    } catch (error) {
      if (error instanceof StaleSession) throw error;
      return this.#failed(error);
    }
    return this.#finish(reply, "committed");
  }

  /** Makes the input durable, and saves of an earlier holder conflict, where the gate's lease did not do so. */
  async #open(): Promise<void> {
    if (this.#scope.session.lease.inbox) return;
    try {
      await saveOpening(this.#scope);
    } catch (error) {
      if (StateConflictError.is(error) && !LeaseLostError.is(error))
        throw new StaleSession(this.#scope.inputIds, error);
      // The store has no room for the input.
      if (StateTooLargeError.is(error)) this.#progress.isAccepted = false;
      throw error;
    }
  }

  /** A stop or an error: what was done so far is saved all the same. */
  async #failed(error: unknown): Promise<AgentReply> {
    const { stop, session, slot, emit } = this.#scope;
    const { kind } = stop;
    const isRefused = !this.#progress.isAccepted && HoldfastError.is(error);
    if (isRefused && kind !== "abort" && kind !== "lease_lost") return this.#fail(error, "error");
    if (kind !== null) {
      emit({ type: "interrupted", kind });
      session.mark({ name: "interrupt", details: { kind } });
    }
    if (kind === null) return this.#fail(error, LeaseLostError.is(error) ? "conflict" : "error");
    if (kind === "abort") return this.#fail(callAborted(slot, stop.cause), "interrupted");
    if (kind === "lease_lost") return this.#fail(session.leaseLost(), "conflict");
    const stopped = await stopTurn(this.#scope);
    return this.#finish(this.#reply(stopped), kind === "rollback" ? "rolled_back" : "interrupted");
  }

  #fail(thrown: unknown, outcome: CallOutcome): Promise<never> {
    return failTurn(this.#scope, this.#progress, thrown, outcome);
  }

  async #finish(reply: AgentReply, outcome: CallOutcome): Promise<AgentReply> {
    const scope = this.#scope;
    const { session, parts, named } = scope;
    const { state } = session;
    let checked: CheckedSections;
    try {
      checked = checkState(parts, session);
    } catch (error) {
      attach(error, "reply", reply);
      return this.#fail(error, outcome === "committed" ? "error" : outcome);
    }
    scope.stop.close();
    state.unfinishedRun = null;
    const isCut = reply.reason === "shutdown";
    const record = recordOfRun(scope, isCut ? "" : reply.message.id, reply.reason);
    if (outcome !== "rolled_back") state.resumableRun = isCut ? record : null;
    if (named) remember(parts, session, record);
    try {
      if (!session.holdsLease()) throw session.leaseLost();
      await saveSession(scope, { ...lastSave(scope, this.#progress, outcome), checked });
    } catch (error) {
      if (LeaseLostError.is(error)) await recordUnsaved(scope, "conflict");
      attach(error, "reply", reply);
      throw error;
    }
    return reply;
  }

  #reply({ message, ...end }: LoopEnd | Awaited<ReturnType<typeof stopTurn>>): AgentReply {
    const { usage, slot, run } = this.#scope;
    return {
      ...end,
      message,
      text: textOf(message),
      usage: usage.total(),
      sessionId: slot.sessionId,
      callId: run.callId,
      runId: run.runId,
    } as AgentReply;
  }
}
