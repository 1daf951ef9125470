import {
  CallAbortedError,
  LeaseLostError,
  ModelError,
  StateConflictError,
  StateCorruptError,
} from "../errors/index.js";
import type { AgentReply } from "../events/agent-reply.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { textOf } from "../message/read-message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import type { RunRecord } from "../state/sections.js";
import { compose } from "./assemble/compose.js";
import { type CallScope, stepOf } from "./call-scope.js";
import { type LoopEnd, runLoop } from "./loop/loop.js";
import { type CheckedSections, checkState, restoreSound } from "./save/check-state.js";
import { saveOpening, sayInput } from "./save/save-run.js";
import { recordUnsaved, type SaveOptions, saveSession } from "./save/save-session.js";
import { remember } from "./session/run-records.js";
import { sayInterrupts } from "./session/take-steered.js";
import { endToolCalls } from "./tools/close-calls.js";
import { type TurnInput, takeTurnInput } from "./turn-input.js";

/** Thrown when another process saved between this turn's load and its first save: nothing was done yet. */
export class StaleSession extends Error {
  override readonly name = "StaleSession";
  /** Ids under which the turn was to say its input: the save may have been made, and another process found it. */
  readonly inputIds: readonly string[];

  constructor(inputIds: readonly string[], cause: unknown) {
    super("the session was saved meanwhile", { cause });
    this.inputIds = inputIds;
  }
}

/** One turn of a call that holds its session: takes the input in, runs the loop, and saves, however it ends. */
export class Turn {
  readonly #scope: CallScope;
  readonly #given: TurnInput;
  #resumed = false;
  /** True once the session has taken this input: before that a failing call was refused and leaves no trace. */
  #accepted = false;

  constructor(scope: CallScope, given: TurnInput) {
    this.#scope = scope;
    this.#given = given;
  }

  /** Runs the turn and saves it, however it ends. @throws StaleSession */
  async run(): Promise<AgentReply> {
    const scope = this.#scope;
    let reply: AgentReply;
    try {
      const resumption = await takeTurnInput(scope, this.#given);
      this.#resumed = resumption.resumed;
      this.#accepted = true;
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
      throw error;
    }
  }

  /** A stop or an error: what was done so far is saved all the same. */
  async #failed(error: unknown): Promise<AgentReply> {
    const { kind } = this.#scope.stop;
    if (kind !== null) {
      this.#scope.emit({ type: "interrupted", kind });
      this.#scope.session.mark({ name: "interrupt", details: { kind } });
    }
    switch (kind) {
      case null:
        return this.#fail(error, LeaseLostError.is(error) ? "conflict" : "error");
      case "abort":
        return this.#fail(callAborted(this.#scope.slot, this.#scope.stop.cause), "interrupted");
      case "lease_lost":
        return this.#fail(this.#scope.session.leaseLost(), "conflict");
      case "rollback":
        return this.#stopped("rolled_back");
      default:
        return this.#stopped("interrupted");
    }
  }

  /** The reply of a call that was stopped from outside: whatever it had said so far. */
  async #stopped(outcome: CallOutcome): Promise<AgentReply> {
    const { parts, stop, session } = this.#scope;
    stop.close();
    const partial = session.state.messages.findLast(
      ({ id, role }) => role === "assistant" && session.said.has(id),
    );
    if (stop.kind === "rollback") {
      session.taken.add(session.run.runId);
      session.takeBack();
    } else {
      sayInput(this.#scope);
      if (stop.kind === "shutdown") {
        endToolCalls(this.#scope, { which: (state) => state === "started" });
        session.state.shutdownInterrupted = true;
      } else endToolCalls(this.#scope);
      if (stop.kind === "interrupt") await sayInterrupts(this.#scope);
    }
    const message = partial ?? createMessage("assistant", [], { createdAt: parts.now() });
    const reason = stop.kind === "shutdown" ? "shutdown" : "interrupted";
    return this.#finish(this.#replyWith(message, { reason }), outcome);
  }

  /** Saves what a failed call had done, its input above all, and throws. A call that was refused leaves no trace. */
  async #fail(thrown: unknown, outcome: CallOutcome): Promise<never> {
    const scope = this.#scope;
    const { session } = scope;
    scope.stop.close();
    const bad = restoreSound(scope.parts, session);
    // A plugin takes what this call has put into its state for damage.
    const error = bad && StateCorruptError.is(thrown) ? bad : thrown;
    if (bad && bad !== error) attach(error, "stateError", bad);
    try {
      if (outcome === "conflict") await recordUnsaved(scope, outcome);
      else if (!this.#accepted) session.dropped.push(session.run.runId);
      else if (this.#isRefused(error)) {
        sayInput(scope);
        session.takeBack();
        session.dropSteered();
        session.state.unfinishedRun = null;
        await saveSession(scope, this.#saveOptions("rolled_back"));
      } else {
        sayInput(scope);
        endToolCalls(this.#scope);
        session.state.unfinishedRun = null;
        this.#rememberUnfinished(outcome === "error");
        await saveSession(scope, this.#saveOptions(outcome));
      }
    } catch (saveError) {
      attach(error, "saveError", saveError);
    }
    throw error;
  }

  /** @param resumable - whether the run may be continued without its caller: not one that its caller gave up */
  #rememberUnfinished(resumable: boolean): void {
    const { session, parts, named } = this.#scope;
    const record = this.#record("", "error");
    session.state.resumableRun = resumable ? record : null;
    if (named) remember(parts, session, record);
  }

  #record(messageId: string, reason: string): RunRecord {
    const { run, inputHash, inputIds, session, parts } = this.#scope;
    session.gather();
    const lastId = session.lastId ?? inputIds.at(-1);
    const isFinished = messageId !== "";
    return {
      ...run,
      ...{ messageId, reason, at: parts.now().toISOString() },
      ...(inputHash !== undefined && { inputHash }),
      ...(!isFinished && { inputIds, ...(lastId !== undefined && { lastId }) }),
    };
  }

  /**
   * Whether the provider will not have what this turn says. Kept in the context it would be sent, and refused, with every
   * later call; so the turn is taken back, and only the log has it. Not one that goes on with tool calls of an earlier turn.
   */
  #isRefused(error: unknown): boolean {
    return ModelError.is(error) && error.kind === "content" && !this.#resumed;
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
    const record = this.#record(isCut ? "" : reply.message.id, reply.reason);
    if (outcome !== "rolled_back") state.resumableRun = isCut ? record : null;
    if (named) remember(parts, session, record);
    try {
      if (!session.holdsLease()) throw session.leaseLost();
      await saveSession(scope, { ...this.#saveOptions(outcome), checked });
    } catch (error) {
      if (LeaseLostError.is(error)) await recordUnsaved(scope, "conflict");
      attach(error, "reply", reply);
      throw error;
    }
    return reply;
  }

  #saveOptions(outcome: CallOutcome): SaveOptions {
    return {
      final: true,
      outcome,
      mergeable: !this.#scope.session.hasSavedSteps && !this.#resumed,
    };
  }

  #reply(end: LoopEnd): AgentReply {
    const { message, ...rest } = end;
    return this.#replyWith(message, rest);
  }

  #replyWith<E extends object>(message: Message, end: E): AgentReply & E {
    const { usage, slot, run } = this.#scope;
    return {
      ...end,
      message,
      text: textOf(message),
      usage: usage.total(),
      sessionId: slot.sessionId,
      callId: run.callId,
      runId: run.runId,
    } as unknown as AgentReply & E;
  }
}

/** Not enumerable, so that logging the error does not print the conversation. */
function attach(error: unknown, key: string, value: unknown): void {
  if (error instanceof Error) Object.defineProperty(error, key, { value, configurable: true });
}

/** Returns the error of a call that its caller aborted. */
export function callAborted(slot: Slot, cause: unknown): CallAbortedError {
  return new CallAbortedError(`the call on ${describeSlot(slot)} was aborted by its caller`, {
    cause,
  });
}
