import type { RuntimeContext } from "../context/runtime-context.js";
import { HoldfastError } from "../errors/index.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { RunStep } from "../middleware/middleware.js";
import type { InboxEntry } from "../ports/inbox.js";
import type { Subscription } from "../ports/signal-bus.js";
import { checkId, type Slot } from "../slot/slot.js";
import { uuidv7 } from "../slot/uuid.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { compose } from "./assemble/compose.js";
import { CallEvents } from "./call-events.js";
import { type CallInput, hashInput, inputBody, type ReadInput, readInput } from "./call-input.js";
import { type CallScope, UsageMeter } from "./call-scope.js";
import { checkSizes } from "./check-messages.js";
import type { EventBuffer } from "./event-buffer.js";
import { Prefetch } from "./loop/reasoning.js";
import { incomingEmit } from "./receive.js";
import { receiveInput } from "./receive-input.js";
import { CallExits } from "./session/call-exits.js";
import { type EntryOptions, withSession } from "./session/enter-session.js";
import type { ActiveCall } from "./session/lifecycle.js";
import type { OpenSession } from "./session/open-session.js";
import { orAborted, type StopSwitch } from "./session/stop-switch.js";
import { Steering } from "./session/take-steered.js";
import { NothingToResume, takeTurn } from "./turn.js";

/** Stands for the input of a call that goes on with an earlier run and says nothing itself. */
export const RESUME: unique symbol = Symbol("resume");

/** One call, from the queue to the last save. */
export class Call implements ActiveCall {
  readonly callId: string;
  readonly runId: string = uuidv7();
  readonly slot: Slot;
  readonly #steering = new Steering();
  readonly #parts: AgentParts;
  readonly #ctx: RuntimeContext;
  /** Null for a call that goes on with an earlier run and says nothing itself. Until it was received, as the caller gave it. */
  #input: ReadInput | null;
  /** Hash of the input as the caller gave it, when the caller named the call. */
  readonly #hash: string | undefined;
  readonly #prefetch: Prefetch;
  readonly #usage = new UsageMeter();
  readonly #events: CallEvents;
  readonly #exits: CallExits;
  #subscription: Subscription | undefined;
  /** Settles when other nodes can find the run, should this one die. */
  #marked: Promise<void> | undefined;
  /** True once the call holds its session. */
  isRunning = false;

  /** @throws InvalidIdError | InvalidInputError | StateTooLargeError before anything happens */
  constructor(
    parts: AgentParts,
    input: CallInput | typeof RESUME,
    ctx: RuntimeContext,
    buffer: EventBuffer | null,
  ) {
    this.#parts = parts;
    this.#input = input === RESUME ? null : this.#checked(readInput(input, parts.now));
    this.slot = parts.slotOf(ctx);
    this.callId = ctx.callId === undefined ? uuidv7() : checkId(ctx.callId, "callId");
    this.#hash = ctx.callId !== undefined && this.#input ? hashInput(this.#input) : undefined;
    this.#ctx = ctx;
    this.#prefetch = new Prefetch(parts.prefetches, { slot: this.slot, ctx });
    this.#events = new CallEvents(parts, this, buffer);
    this.#exits = new CallExits(parts.settings.name, this.slot);
  }

  get stop(): StopSwitch {
    return this.#exits.stop;
  }

  drain(): void {
    this.#exits.drain();
  }

  cut(): void {
    this.stop.stop("shutdown");
  }

  abandon(): void {
    this.#exits.abandon();
  }

  hasHeard(messageId: string): boolean {
    return this.stop.kind === "interrupt" && this.stop.messages.some(({ id }) => id === messageId);
  }

  async run(): Promise<AgentReply> {
    let leave: (() => void) | undefined;
    const detach = this.#exits.heed(this.#ctx.signal);
    let reason = "error";
    try {
      leave = this.#parts.lifecycle.enter(this);
      const answering = compose(this.#parts.hooks.onRun, this.#runStep(), async () => {
        if (!this.#looksAtFeed) this.#events.begin();
        await this.#parts.lifecycle.ready(this.#exits.draining);
        return this.#answer();
      });
      const reply = await orAborted(answering, this.#exits.abandoned);
      reason = reply.reason;
      return reply;
    } catch (error) {
      this.#events.begin();
      if (!(error instanceof NothingToResume))
        this.#events.emit({
          type: "error",
          code: HoldfastError.is(error) ? error.code : "UNKNOWN",
          message: HoldfastError.is(error) ? error.message : "a model, tool or hook failed",
        });
      throw error;
    } finally {
      detach();
      if (this.#subscription)
        await orAborted(this.#subscription.close(), this.#exits.abandoned).catch(() => undefined);
      this.#events.end(reason, this.#usage.total());
      this.#parts.runMarks?.end(this.runId);
      leave?.();
    }
  }

  /** Only a call that was named can have an earlier run. It looks for one in its place among the calls that arrive. */
  get #looksAtFeed(): boolean {
    return this.#events.feed !== undefined && this.#ctx.callId !== undefined;
  }

  #runStep(): RunStep {
    const { slot, callId, runId } = this;
    return {
      slot,
      ctx: this.#ctx,
      callId,
      runId,
      observe: (listener) => this.#events.observe(listener),
    };
  }

  /** Waits for the session, then serves the request. */
  #answer(): Promise<AgentReply> {
    const { onBusy = "enqueue", queueTimeoutMs } = this.#ctx;
    let waited = false;
    const entry: EntryOptions = {
      callId: this.callId,
      runId: this.runId,
      put: () => this.#inboxEntry(),
      signal: this.#exits.leaving,
      wait: onBusy !== "reject",
      queueTimeoutMs,
      takeBackUnfinished: onBusy === "rollback",
      prepare: async () => {
        if (this.#looksAtFeed) await this.#events.feed?.look();
        this.#events.begin();
        await this.#receive();
        this.#mark();
        await orAborted(this.#listen(), this.#exits.draining);
        // The lease is asked for next: both answers are waited for at once.
        this.#prefetch.begin();
      },
      onWait: () => {
        waited = true;
        if (onBusy === "interrupt" || onBusy === "rollback")
          // When the holder cannot be told, waiting for it may take forever.
          this.#stopHolder(onBusy).catch((error) => this.#exits.leave(error));
      },
      onEnter: () => {
        this.isRunning = true;
        // The call before this one may have changed what was fetched.
        if (waited) this.#prefetch.begin();
      },
      emit: (event) => this.#events.emit(event),
    };
    return withSession(this.#parts, this.slot, entry, async (session) => {
      const { lost } = session.lease;
      const leaseLost = () => this.stop.stop("lease_lost");
      if (lost.aborted) leaseLost();
      lost.addEventListener("abort", leaseLost, { once: true });
      try {
        await this.#settleMark(session);
        return await takeTurn(session, entry, {
          input: this.#input,
          scopeOf: (open) => this.#scope(open),
        });
      } finally {
        lost.removeEventListener("abort", leaseLost);
      }
    });
  }

  /** Runs the input through the `onIncoming` hooks: from here on only what they made of it is known. */
  async #receive(): Promise<void> {
    const { slot, callId } = this;
    const signal = this.#exits.leaving;
    if (this.#input === null || this.#parts.hooks.onIncoming.length === 0) return;
    const ctx = this.#ctx.child({ ...slot, callId, signal });
    const emit = incomingEmit(this.#parts, (event) => this.#events.emit(event));
    const step = { slot, ctx, callId, signal, emit };
    const received = await orAborted(receiveInput(this.#parts, this.#input, step), signal);
    this.#input = this.#checked(received);
  }

  /** Begins to mark the run: while the lease is asked for, so that it takes no longer. */
  #mark(): void {
    const { userId, sessionId } = this.slot;
    const mark = { userId, sessionId, callId: this.callId, attempts: 0 };
    this.#marked = this.#parts.runMarks?.put(this.runId, mark);
    this.#marked?.catch(() => undefined);
  }

  /** A run that could not be marked is refused, and leaves nothing behind. @throws StoreError */
  async #settleMark(session: OpenSession): Promise<void> {
    try {
      await this.#marked;
    } catch (error) {
      session.dropped.push(this.runId);
      throw error;
    }
  }

  /** @throws StateTooLargeError */
  #checked(input: ReadInput): ReadInput {
    if (input.kind === "messages")
      checkSizes(input.messages, this.#parts.settings.limits.messageBytes);
    return input;
  }

  #inboxEntry(): InboxEntry | undefined {
    if (this.#input === null) return undefined;
    const at = this.#parts.now().toISOString();
    const body = inputBody({ input: this.#input, hash: this.#hash });
    return { id: this.runId, kind: "input", callId: this.callId, at, body };
  }

  /** Before it enters the queue: from then on the call can be seen, and who sees it may want to interrupt it. */
  async #listen(): Promise<void> {
    const { signals, gate } = this.#parts;
    const subscription = await signals.listen(
      this.slot,
      this.callId,
      ({ kind, message }) => {
        if (kind === "steer") this.#steering.tell(message);
        else this.stop.stop(kind, { message });
      },
      { enters: gate },
    );
    // The call may have left meanwhile.
    if (this.#events.hasEnded) await subscription.close();
    else this.#subscription = subscription;
  }

  /** Done from within the queue, so that a call which stops another one keeps its place among those that do not. */
  async #stopHolder(kind: "interrupt" | "rollback"): Promise<void> {
    const { gate, signals } = this.#parts;
    const [holder] = await gate.calls(this.slot);
    if (holder !== undefined && holder !== this.callId)
      await signals.send(this.slot, holder, { kind });
  }

  #scope(session: OpenSession): CallScope {
    const { slot, callId, runId, stop } = this;
    const ctx = this.#ctx.child({ ...slot, callId, signal: stop.signal });
    ctx.agentState = session.state;
    session.state.interruptControl = stop;
    return {
      parts: this.#parts,
      session,
      slot,
      ctx,
      callId,
      run: { runId, callId },
      named: this.#ctx.callId !== undefined,
      inputHash: this.#hash,
      stop,
      steering: this.#steering,
      prefetch: this.#prefetch,
      usage: this.#usage,
      feed: this.#events.feed,
      notBegun: new Set(),
      newInput: [],
      inputIds: [],
      emit: (event) => this.#events.emit(event),
      checkpoint: () => {
        if (!session.holdsLease()) stop.stop("lease_lost");
        if (this.#exits.draining.aborted) stop.stop("shutdown");
        stop.check();
      },
      async settled() {
        if (session.isLeaseInDoubt()) await stop.race(session.confirmLease());
        this.checkpoint();
      },
    };
  }
}
