import type { RuntimeContext } from "../context/runtime-context.js";
import {
  CallAbortedError,
  HoldfastError,
  LeaseLostError,
  ShuttingDownError,
  StateTooLargeError,
} from "../errors/index.js";
import type { EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { messageBytes, textOf } from "../message/read-message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import type { Subscription } from "../ports/signal-bus.js";
import { checkId, describeSlot, type Slot } from "../slot/slot.js";
import { uuidv7 } from "../slot/uuid.js";
import { type AgentParts, backgroundEvent } from "./agent-parts.js";
import type { EventBuffer } from "./agent-run.js";
import { type CallInput, type ReadInput, readInput } from "./call-input.js";
import { type CallScope, stepOf, UsageMeter } from "./call-scope.js";
import { closeCalls } from "./close-calls.js";
import { recallReply, rememberReply, rememberUnfinished, wasCutShort } from "./finished-calls.js";
import type { ActiveCall, Lifecycle } from "./lifecycle.js";
import { type LoopEnd, runLoop } from "./loop.js";
import { onion } from "./onion.js";
import { OpenSession } from "./open-session.js";
import { resume } from "./resume.js";
import { recordUnsaved, type SaveOptions, saveSession } from "./save-session.js";
import type { StateCache } from "./state-cache.js";
import { StopSwitch } from "./stop-switch.js";

/** What an agent shares with its calls. */
export interface CallHost {
  readonly parts: AgentParts;
  readonly cache: StateCache;
  readonly lifecycle: Lifecycle;
  /** Runs the plugins' `onStart` once. */
  start(): Promise<void>;
}

/** One call, from the queue to the last save. */
export class Call implements ActiveCall {
  readonly callId: string;
  readonly slot: Slot;
  readonly stop: StopSwitch = new StopSwitch();
  readonly #host: CallHost;
  readonly #ctx: RuntimeContext;
  readonly #input: ReadInput;
  readonly #buffer: EventBuffer | null;
  readonly #usage = new UsageMeter();
  readonly #began = performance.now();
  /** Aborts while the call waits for its turn. */
  readonly #leave = new AbortController();
  #draining = false;
  #seq = 0;
  #ended = false;
  #stepSaved = false;
  #resumed = false;
  /** Whether the session takes this input: until then a failing call was refused and leaves no trace. */
  #accepted = false;
  /** What of the input is new to the session; known once the session is open. */
  #newInput: readonly Message[] = [];

  /** @throws InvalidIdError | InvalidInputError | StateTooLargeError before anything happens */
  constructor(host: CallHost, input: CallInput, ctx: RuntimeContext, buffer: EventBuffer | null) {
    this.#host = host;
    this.#input = checkSizes(
      readInput(input, host.parts.now),
      host.parts.settings.limits.messageBytes,
    );
    this.slot = host.parts.slotOf(ctx);
    this.callId = ctx.callId === undefined ? uuidv7() : checkId(ctx.callId, "callId");
    this.#ctx = ctx;
    this.#buffer = buffer;
  }

  drain(): void {
    this.#draining = true;
    this.#leave.abort(
      new ShuttingDownError(
        `agent "${this.#host.parts.settings.name}" is shutting down; ${describeSlot(this.slot)} was still waiting. Send the call to another process`,
      ),
    );
  }

  cut(): void {
    this.stop.stop("shutdown");
  }

  async run(): Promise<AgentReply> {
    let leave: (() => void) | undefined;
    let subscription: Subscription | undefined;
    const detach = this.#heedCaller();
    this.#emit({ type: "call_start" });
    let reason = "error";
    try {
      leave = this.#host.lifecycle.enter(this);
      await this.#host.start();
      const { signals } = this.#host.parts;
      subscription = await signals.listen(this.slot, this.callId, ({ kind, message }) =>
        this.stop.stop(kind, { message }),
      );
      const reply = await this.#answer();
      reason = reply.reason;
      return reply;
    } catch (error) {
      this.#emit({
        type: "error",
        code: HoldfastError.is(error) ? error.code : "UNKNOWN",
        message: HoldfastError.is(error) ? error.message : "a model, tool or hook failed",
      });
      throw error;
    } finally {
      detach();
      await subscription?.close().catch(() => undefined);
      this.#emit({
        type: "call_end",
        reason,
        usage: this.#usage.total(),
        durationMs: performance.now() - this.#began,
      });
      this.#ended = true;
      this.#buffer?.end();
      leave?.();
    }
  }

  /** Ties the caller's signal to this call; the function returned unties it. */
  #heedCaller(): () => void {
    const { signal } = this.#ctx;
    if (!signal) return () => undefined;
    const abort = () => {
      this.stop.stop("abort", { cause: signal.reason });
      this.#leave.abort(this.#aborted());
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  }

  async #answer(): Promise<AgentReply> {
    const session = await this.#open();
    const { lease } = session;
    const leaseLost = () => this.stop.stop("lease_lost");
    if (lease.lost.aborted) leaseLost();
    lease.lost.addEventListener("abort", leaseLost, { once: true });
    try {
      const repeated = await recallReply(this.#host.parts, session, this.#ctx);
      return repeated ?? (await this.#runIn(session));
    } finally {
      lease.lost.removeEventListener("abort", leaseLost);
      await lease.release().catch(() => undefined);
    }
  }

  async #open(): Promise<OpenSession> {
    const { parts, cache } = this.#host;
    const { onBusy = "enqueue", queueTimeoutMs } = this.#ctx;
    return OpenSession.open(parts, cache, this.slot, {
      callId: this.callId,
      signal: this.#leave.signal,
      wait: onBusy !== "reject",
      queueTimeoutMs,
      takeBackUnfinished: onBusy === "rollback",
      onWait: () => {
        if (onBusy === "interrupt" || onBusy === "rollback")
          // When the holder cannot be told, waiting for it may take forever.
          this.#stopHolder(onBusy).catch((error) => this.#leave.abort(error));
      },
      emit: (event) => this.#emit(event),
    });
  }

  /** Done from within the queue, so that a call which stops another one keeps its place among those that do not. */
  async #stopHolder(kind: "interrupt" | "rollback"): Promise<void> {
    const { gate, signals } = this.#host.parts;
    const [holder] = await gate.calls(this.slot);
    if (holder !== undefined && holder !== this.callId)
      await signals.send(this.slot, holder, { kind });
  }

  async #runIn(session: OpenSession): Promise<AgentReply> {
    const scope = this.#scope(session);
    let reply: AgentReply;
    try {
      const fresh = this.#prepare(session);
      const input = fresh.kind === "messages" ? fresh.messages : [];
      this.#newInput = input;
      const resumption = await resume(scope, fresh);
      this.#resumed = resumption.resumed;
      this.#accepted = true;
      this.stop.check();
      reply = await onion(
        scope.parts.hooks.onCall,
        Object.assign(stepOf(scope), { input }),
        async () => this.#reply(session, await runLoop(scope, resumption, input)),
      );
    } catch (error) {
      return this.#failed(session, error);
    }
    return this.#finish(session, reply, "committed");
  }

  /** Checks the session against its limits and decides what of the input is new to it. */
  #prepare(session: OpenSession): ReadInput {
    const { limits } = this.#host.parts.settings;
    const { state } = session;
    const bytes = state.contextBytes();
    if (bytes > limits.stateBytes)
      throw new StateTooLargeError(
        `${describeSlot(this.slot)} holds ${bytes} bytes of messages; limits.stateBytes allows ${limits.stateBytes}. Compact it (agent.compact) or raise the limit`,
      );
    // A repeated call whose first run was cut short has its input in the session already.
    if (wasCutShort(state, this.#ctx.callId))
      return { kind: "messages", messages: [], foreignIds: false };
    if (this.#input.kind !== "messages" || !this.#input.foreignIds) return this.#input;
    return { ...this.#input, messages: withFreshIds(this.#input.messages, state.context) };
  }

  #scope(session: OpenSession): CallScope {
    const { parts, cache } = this.#host;
    const ctx = this.#ctx.child({
      userId: this.slot.userId,
      sessionId: this.slot.sessionId,
      callId: this.callId,
      signal: this.stop.signal,
    });
    ctx.agentState = session.state;
    session.state.interruptControl = this.stop;
    return {
      parts,
      session,
      slot: this.slot,
      ctx,
      callId: this.callId,
      stop: this.stop,
      usage: this.#usage,
      emit: (event) => this.#emit(event),
      checkpoint: () => {
        if (this.#draining) this.stop.stop("shutdown");
        this.stop.check();
      },
      stepDone: async () => {
        if (parts.settings.persistence !== "step") return;
        session.gather();
        session.state.unfinishedRun = {
          callId: this.callId,
          messageIds: [...session.said.keys()],
          before: session.baseHead,
          ...(this.#newInput.some(({ id }) => !session.said.has(id)) && { inputUnsaid: true }),
        };
        await saveSession(parts, cache, session, {
          final: false,
          emit: (event) => this.#emit(event),
        });
        this.#stepSaved = true;
      },
    };
  }

  /** A stop or an error: what was done so far is saved all the same. */
  async #failed(session: OpenSession, error: unknown): Promise<AgentReply> {
    const { kind } = this.stop;
    if (kind !== null) this.#emit({ type: "interrupted", kind });
    switch (kind) {
      case null:
        return this.#fail(session, error, "error");
      case "abort":
        return this.#fail(session, this.#aborted(), "interrupted");
      case "lease_lost":
        return this.#fail(session, session.leaseLost(), "conflict");
      case "rollback":
        return this.#stopped(session, "rolled_back");
      default:
        return this.#stopped(session, "interrupted");
    }
  }

  /** The reply of a call that was stopped from outside: whatever it had said so far. */
  async #stopped(session: OpenSession, outcome: CallOutcome): Promise<AgentReply> {
    const partial = session.state.context.findLast(
      ({ id, role }) => role === "assistant" && session.said.has(id),
    );
    if (this.stop.kind === "rollback") session.takeBack();
    else {
      this.#keepInput(session);
      if (this.stop.kind === "shutdown") {
        closeCalls(session, (state) => state === "started");
        session.state.shutdownInterrupted = true;
      } else closeCalls(session);
      if (this.stop.message) session.say(freshId(this.stop.message, session));
    }
    const message =
      partial ?? createMessage("assistant", [], { createdAt: this.#host.parts.now() });
    const reason = this.stop.kind === "shutdown" ? "shutdown" : "interrupted";
    return this.#finish(session, this.#replyWith(session, message, { reason }), outcome);
  }

  /** Saves what a failed call had done, its input above all, and throws. A call that was refused leaves no trace. */
  async #fail(session: OpenSession, error: unknown, outcome: CallOutcome): Promise<never> {
    const { parts, cache } = this.#host;
    try {
      if (outcome === "conflict") await recordUnsaved(parts, session, outcome);
      else if (this.#accepted) {
        this.#keepInput(session);
        closeCalls(session);
        session.state.unfinishedRun = null;
        rememberUnfinished(session.state, this.#ctx.callId);
        await saveSession(parts, cache, session, this.#saveOptions(outcome));
      }
    } catch (saveError) {
      if (error instanceof Error)
        Object.defineProperty(error, "saveError", { value: saveError, configurable: true });
    }
    throw error;
  }

  /** A call that ended before its first step has not put its input into the context yet. */
  #keepInput(session: OpenSession): void {
    for (const message of this.#newInput) if (!session.said.has(message.id)) session.say(message);
  }

  async #finish(
    session: OpenSession,
    reply: AgentReply,
    outcome: CallOutcome,
  ): Promise<AgentReply> {
    const { parts, cache } = this.#host;
    session.state.unfinishedRun = null;
    rememberReply(session.state, this.#ctx.callId, reply);
    try {
      if (session.lease.lost.aborted) throw session.leaseLost();
      await saveSession(parts, cache, session, this.#saveOptions(outcome));
    } catch (error) {
      if (LeaseLostError.is(error)) await recordUnsaved(parts, session, "conflict");
      // Not enumerable, so that logging the error does not print the conversation.
      if (error instanceof Error)
        Object.defineProperty(error, "reply", { value: reply, configurable: true });
      throw error;
    }
    return reply;
  }

  #saveOptions(outcome: CallOutcome): SaveOptions {
    return {
      final: true,
      outcome,
      mergeable: !this.#stepSaved && !this.#resumed,
      emit: (event) => this.#emit(event),
    };
  }

  #reply(session: OpenSession, end: LoopEnd): AgentReply {
    const { message, ...rest } = end;
    return this.#replyWith(session, message, rest);
  }

  #replyWith<E extends object>(session: OpenSession, message: Message, end: E): AgentReply & E {
    return {
      ...end,
      message,
      text: textOf(message),
      usage: this.#usage.total(),
      sessionId: session.slot.sessionId,
      callId: this.callId,
    } as unknown as AgentReply & E;
  }

  #aborted(): CallAbortedError {
    return new CallAbortedError(
      `the call on ${describeSlot(this.slot)} was aborted by its caller`,
      {
        cause: this.stop.cause,
      },
    );
  }

  #emit(body: EventBody): void {
    // A hook may have left work behind that still has something to tell; `call_end` stays the last of the call.
    if (this.#ended) {
      this.#host.parts.observe(backgroundEvent(this.slot, this.callId, body));
      return;
    }
    const envelope = { slot: this.slot, callId: this.callId };
    this.#buffer?.push(body, envelope);
    this.#host.parts.observe({ ...body, ...envelope, seq: this.#seq++ });
  }
}

/** @throws StateTooLargeError */
function checkSizes(input: ReadInput, maxBytes: number): ReadInput {
  for (const message of input.kind === "messages" ? input.messages : [])
    if (messageBytes(message) > maxBytes)
      throw new StateTooLargeError(
        `a message of the input has ${messageBytes(message)} bytes; limits.messageBytes allows ${maxBytes}`,
      );
  return input;
}

/** Ids are unique within a session: a message that was sent before gets a new one. */
function withFreshIds(
  messages: readonly Message[],
  context: readonly Message[],
): readonly Message[] {
  const wanted = new Set(messages.map(({ id }) => id));
  const taken = new Set<string>();
  for (const { id } of context) if (wanted.has(id)) taken.add(id);
  return messages.map((message) => {
    if (!taken.has(message.id)) {
      taken.add(message.id);
      return message;
    }
    return Object.freeze({ ...message, id: uuidv7() });
  });
}

function freshId(message: Message, session: OpenSession): Message {
  return withFreshIds([message], session.state.context)[0] as Message;
}
