import {
  CallAbortedError,
  LeaseLostError,
  ModelError,
  StateTooLargeError,
} from "../errors/index.js";
import type { AgentReply } from "../events/agent-reply.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { textOf } from "../message/read-message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { compose } from "./assemble/compose.js";
import { type ReadInput, withFreshIds } from "./call-input.js";
import { type CallScope, stepOf } from "./call-scope.js";
import { type LoopEnd, runLoop } from "./loop/loop.js";
import { recordUnsaved, type SaveOptions, saveSession } from "./save/save-session.js";
import { rememberReply, rememberUnfinished, wasCutShort } from "./session/finished-calls.js";
import { closeCalls } from "./tools/close-calls.js";
import { resume } from "./tools/resume.js";

/** What a call does once it holds its session: take the input in, run the loop, and save, however it ends. */
export class Turn {
  readonly #scope: CallScope;
  readonly #input: ReadInput;
  #resumed = false;
  /** Whether the session takes this input: until then a failing call was refused and leaves no trace. */
  #accepted = false;

  constructor(scope: CallScope, input: ReadInput) {
    this.#scope = scope;
    this.#input = input;
  }

  /** Runs the turn and saves it, however it ends. */
  async run(): Promise<AgentReply> {
    const scope = this.#scope;
    let reply: AgentReply;
    try {
      const fresh = this.#prepare();
      scope.newInput = fresh.kind === "messages" ? fresh.messages : [];
      const resumption = await resume(scope, fresh);
      this.#resumed = resumption.resumed;
      this.#accepted = true;
      scope.stop.check();
      reply = await compose(
        scope.parts.hooks.onCall,
        Object.assign(stepOf(scope), { input: scope.newInput }),
        async () => this.#reply(await runLoop(scope, resumption)),
      );
    } catch (error) {
      return this.#failed(error);
    }
    return this.#finish(reply, "committed");
  }

  /** Checks the session against its limits and decides what of the input is new to it. */
  #prepare(): ReadInput {
    const { parts, slot, idempotencyKey, session } = this.#scope;
    const { stateBytes } = parts.settings.limits;
    const { state } = session;
    const input = this.#input;
    const bytes = state.contextBytes();
    if (bytes > stateBytes)
      throw new StateTooLargeError(
        `${describeSlot(slot)} holds ${bytes} bytes of messages; limits.stateBytes allows ${stateBytes}. Compact it (agent.compact) or raise the limit`,
      );
    // A repeated call whose first run was cut short has its input in the session already.
    if (wasCutShort(state, idempotencyKey))
      return { kind: "messages", messages: [], foreignIds: false };
    if (input.kind !== "messages" || !input.foreignIds) return input;
    return { ...input, messages: withFreshIds(input.messages, state.context) };
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
        return this.#fail(error, "error");
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
    const partial = session.state.context.findLast(
      ({ id, role }) => role === "assistant" && session.said.has(id),
    );
    if (stop.kind === "rollback") session.takeBack();
    else {
      this.#keepInput();
      if (stop.kind === "shutdown") {
        closeCalls(session, (state) => state === "started");
        session.state.shutdownInterrupted = true;
      } else closeCalls(session);
      const injected = stop.message ? [stop.message] : [];
      for (const message of withFreshIds(injected, session.state.context)) session.say(message);
    }
    const message = partial ?? createMessage("assistant", [], { createdAt: parts.now() });
    const reason = stop.kind === "shutdown" ? "shutdown" : "interrupted";
    return this.#finish(this.#replyWith(message, { reason }), outcome);
  }

  /** Saves what a failed call had done, its input above all, and throws. A call that was refused leaves no trace. */
  async #fail(error: unknown, outcome: CallOutcome): Promise<never> {
    const scope = this.#scope;
    const { session } = scope;
    try {
      if (outcome === "conflict") await recordUnsaved(scope, outcome);
      else if (this.#accepted && this.#isRefused(error)) {
        this.#keepInput();
        session.takeBack();
        session.state.unfinishedRun = null;
        await saveSession(scope, this.#saveOptions("rolled_back"));
      } else if (this.#accepted) {
        this.#keepInput();
        closeCalls(session);
        session.state.unfinishedRun = null;
        rememberUnfinished(session.state, scope.idempotencyKey);
        await saveSession(scope, this.#saveOptions(outcome));
      }
    } catch (saveError) {
      attach(error, "saveError", saveError);
    }
    throw error;
  }

  /**
   * Whether the provider will not have what this turn says. Kept in the context it would be sent, and refused, with every
   * later call; so the turn is taken back, and only the log has it. Not one that goes on with tool calls of an earlier turn.
   */
  #isRefused(error: unknown): boolean {
    return ModelError.is(error) && error.kind === "content" && !this.#resumed;
  }

  /** A call that ended before its first step has not put its input into the context yet. */
  #keepInput(): void {
    const { session, newInput } = this.#scope;
    for (const message of newInput) if (!session.said.has(message.id)) session.say(message);
  }

  async #finish(reply: AgentReply, outcome: CallOutcome): Promise<AgentReply> {
    const scope = this.#scope;
    const { session } = scope;
    session.state.unfinishedRun = null;
    rememberReply(session.state, scope.idempotencyKey, reply);
    try {
      if (session.lease.lost.aborted) throw session.leaseLost();
      await saveSession(scope, this.#saveOptions(outcome));
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
    return {
      ...end,
      message,
      text: textOf(message),
      usage: this.#scope.usage.total(),
      sessionId: this.#scope.slot.sessionId,
      callId: this.#scope.callId,
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
