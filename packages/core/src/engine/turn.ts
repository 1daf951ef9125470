import type { RuntimeContext } from "../context/runtime-context.js";
import {
  type CallAbortedError,
  LeaseLostError,
  ModelError,
  StateTooLargeError,
} from "../errors/index.js";
import type { EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { textOf } from "../message/read-message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { onion } from "./assemble/compose.js";
import type { CallHost } from "./call.js";
import type { ReadInput } from "./call-input.js";
import { type CallScope, stepOf, type UsageMeter } from "./loop/call-scope.js";
import { type LoopEnd, runLoop } from "./loop/loop.js";
import { recordUnsaved, type SaveOptions, saveSession } from "./save/save-session.js";
import { rememberReply, rememberUnfinished, wasCutShort } from "./session/finished-calls.js";
import { withFreshIds } from "./session/fresh-ids.js";
import type { OpenSession } from "./session/open-session.js";
import type { StopSwitch } from "./session/stop-switch.js";
import { closeCalls } from "./tools/close-calls.js";
import { resume } from "./tools/resume.js";

/** What a turn needs of the call it belongs to. */
export interface TurnCall {
  readonly host: CallHost;
  readonly slot: Slot;
  readonly callId: string;
  readonly ctx: RuntimeContext;
  readonly input: ReadInput;
  readonly stop: StopSwitch;
  readonly usage: UsageMeter;
  isDraining(): boolean;
  emit(event: EventBody): void;
  /** The error of a call whose caller gave up on it. */
  aborted(): CallAbortedError;
}

/** What a call does once it holds its session: take the input in, run the loop, and save, however it ends. */
export class Turn {
  readonly #call: TurnCall;
  readonly #session: OpenSession;
  #stepSaved = false;
  #resumed = false;
  /** Whether the session takes this input: until then a failing call was refused and leaves no trace. */
  #accepted = false;
  /** What of the input is new to the session. */
  #newInput: readonly Message[] = [];

  constructor(call: TurnCall, session: OpenSession) {
    this.#call = call;
    this.#session = session;
  }

  /** Runs the turn and saves it, however it ends. */
  async run(): Promise<AgentReply> {
    const scope = this.#scope();
    let reply: AgentReply;
    try {
      const fresh = this.#prepare();
      const input = fresh.kind === "messages" ? fresh.messages : [];
      this.#newInput = input;
      const resumption = await resume(scope, fresh);
      this.#resumed = resumption.resumed;
      this.#accepted = true;
      this.#call.stop.check();
      reply = await onion(
        scope.parts.hooks.onCall,
        Object.assign(stepOf(scope), { input }),
        async () => this.#reply(await runLoop(scope, resumption, input)),
      );
    } catch (error) {
      return this.#failed(error);
    }
    return this.#finish(reply, "committed");
  }

  /** Checks the session against its limits and decides what of the input is new to it. */
  #prepare(): ReadInput {
    const { host, slot, ctx, input } = this.#call;
    const { stateBytes } = host.parts.settings.limits;
    const { state } = this.#session;
    const bytes = state.contextBytes();
    if (bytes > stateBytes)
      throw new StateTooLargeError(
        `${describeSlot(slot)} holds ${bytes} bytes of messages; limits.stateBytes allows ${stateBytes}. Compact it (agent.compact) or raise the limit`,
      );
    // A repeated call whose first run was cut short has its input in the session already.
    if (wasCutShort(state, ctx.callId))
      return { kind: "messages", messages: [], foreignIds: false };
    if (input.kind !== "messages" || !input.foreignIds) return input;
    return { ...input, messages: withFreshIds(input.messages, state.context) };
  }

  #scope(): CallScope {
    const { host, slot, callId, stop, usage } = this.#call;
    const session = this.#session;
    const ctx = this.#call.ctx.child({ ...slot, callId, signal: stop.signal });
    ctx.agentState = session.state;
    session.state.interruptControl = stop;
    return {
      parts: host.parts,
      session,
      slot,
      ctx,
      callId,
      stop,
      usage,
      emit: (event) => this.#call.emit(event),
      checkpoint: () => {
        if (this.#call.isDraining()) stop.stop("shutdown");
        stop.check();
      },
      stepDone: () => this.#saveStep(),
    };
  }

  async #saveStep(): Promise<void> {
    const { host, callId } = this.#call;
    const session = this.#session;
    if (host.parts.settings.persistence !== "step") return;
    session.gather();
    session.state.unfinishedRun = {
      callId,
      messageIds: [...session.said.keys()],
      before: session.baseHead,
      ...(this.#newInput.some(({ id }) => !session.said.has(id)) && { inputUnsaid: true }),
    };
    await saveSession(host.parts, host.cache, session, {
      final: false,
      emit: (event) => this.#call.emit(event),
    });
    this.#stepSaved = true;
  }

  /** A stop or an error: what was done so far is saved all the same. */
  async #failed(error: unknown): Promise<AgentReply> {
    const { kind } = this.#call.stop;
    if (kind !== null) {
      this.#call.emit({ type: "interrupted", kind });
      this.#session.mark({ name: "interrupt", details: { kind } });
    }
    switch (kind) {
      case null:
        return this.#fail(error, "error");
      case "abort":
        return this.#fail(this.#call.aborted(), "interrupted");
      case "lease_lost":
        return this.#fail(this.#session.leaseLost(), "conflict");
      case "rollback":
        return this.#stopped("rolled_back");
      default:
        return this.#stopped("interrupted");
    }
  }

  /** The reply of a call that was stopped from outside: whatever it had said so far. */
  async #stopped(outcome: CallOutcome): Promise<AgentReply> {
    const { host, stop } = this.#call;
    const session = this.#session;
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
    const message = partial ?? createMessage("assistant", [], { createdAt: host.parts.now() });
    const reason = stop.kind === "shutdown" ? "shutdown" : "interrupted";
    return this.#finish(this.#replyWith(message, { reason }), outcome);
  }

  /** Saves what a failed call had done, its input above all, and throws. A call that was refused leaves no trace. */
  async #fail(error: unknown, outcome: CallOutcome): Promise<never> {
    const { parts, cache } = this.#call.host;
    const session = this.#session;
    try {
      if (outcome === "conflict") await recordUnsaved(parts, session, outcome);
      else if (this.#accepted && this.#isRefused(error)) {
        this.#keepInput();
        session.takeBack();
        session.state.unfinishedRun = null;
        await saveSession(parts, cache, session, this.#saveOptions("rolled_back"));
      } else if (this.#accepted) {
        this.#keepInput();
        closeCalls(session);
        session.state.unfinishedRun = null;
        rememberUnfinished(session.state, this.#call.ctx.callId);
        await saveSession(parts, cache, session, this.#saveOptions(outcome));
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
    for (const message of this.#newInput)
      if (!this.#session.said.has(message.id)) this.#session.say(message);
  }

  async #finish(reply: AgentReply, outcome: CallOutcome): Promise<AgentReply> {
    const { parts, cache } = this.#call.host;
    const session = this.#session;
    session.state.unfinishedRun = null;
    rememberReply(session.state, this.#call.ctx.callId, reply);
    try {
      if (session.lease.lost.aborted) throw session.leaseLost();
      await saveSession(parts, cache, session, this.#saveOptions(outcome));
    } catch (error) {
      if (LeaseLostError.is(error)) await recordUnsaved(parts, session, "conflict");
      attach(error, "reply", reply);
      throw error;
    }
    return reply;
  }

  #saveOptions(outcome: CallOutcome): SaveOptions {
    return {
      final: true,
      outcome,
      mergeable: !this.#stepSaved && !this.#resumed,
      emit: (event) => this.#call.emit(event),
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
      usage: this.#call.usage.total(),
      sessionId: this.#session.slot.sessionId,
      callId: this.#call.callId,
    } as unknown as AgentReply & E;
  }
}

/** Not enumerable, so that logging the error does not print the conversation. */
function attach(error: unknown, key: string, value: unknown): void {
  if (error instanceof Error) Object.defineProperty(error, key, { value, configurable: true });
}
