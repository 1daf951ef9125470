import type { RuntimeContext } from "../context/runtime-context.js";
import { HoldfastError, ShuttingDownError, StateTooLargeError } from "../errors/index.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import { messageBytes } from "../message/read-message.js";
import type { RunStep } from "../middleware/middleware.js";
import type { Subscription } from "../ports/signal-bus.js";
import { checkId, describeSlot, type Slot } from "../slot/slot.js";
import { uuidv7 } from "../slot/uuid.js";
import type { EventBuffer } from "./agent-run.js";
import { type AgentParts, backgroundEvent, observer } from "./assemble/agent-parts.js";
import { compose } from "./assemble/compose.js";
import { type CallInput, type ReadInput, readInput } from "./call-input.js";
import { type CallScope, UsageMeter } from "./call-scope.js";
import { type EntryOptions, withSession } from "./session/enter-session.js";
import { recallReply } from "./session/finished-calls.js";
import type { ActiveCall } from "./session/lifecycle.js";
import type { OpenSession } from "./session/open-session.js";
import { StopSwitch } from "./session/stop-switch.js";
import { callAborted, Turn } from "./turn.js";

/** One call, from the queue to the last save. */
export class Call implements ActiveCall {
  readonly callId: string;
  readonly slot: Slot;
  readonly stop: StopSwitch = new StopSwitch();
  readonly #parts: AgentParts;
  readonly #ctx: RuntimeContext;
  readonly #input: ReadInput;
  readonly #buffer: EventBuffer | null;
  readonly #usage = new UsageMeter();
  readonly #began = performance.now();
  /** Aborts while the call waits for its turn. */
  readonly #leave = new AbortController();
  #subscription: Subscription | undefined;
  readonly #watchers: ((event: AgentEvent) => void)[] = [];
  readonly #watch = observer(this.#watchers);
  #draining = false;
  #seq = 0;
  #ended = false;

  /** @throws InvalidIdError | InvalidInputError | StateTooLargeError before anything happens */
  constructor(
    parts: AgentParts,
    input: CallInput,
    ctx: RuntimeContext,
    buffer: EventBuffer | null,
  ) {
    this.#parts = parts;
    this.#input = checkSizes(readInput(input, parts.now), parts.settings.limits.messageBytes);
    this.slot = parts.slotOf(ctx);
    this.callId = ctx.callId === undefined ? uuidv7() : checkId(ctx.callId, "callId");
    this.#ctx = ctx;
    this.#buffer = buffer;
  }

  drain(): void {
    this.#draining = true;
    this.#leave.abort(
      new ShuttingDownError(
        `agent "${this.#parts.settings.name}" is shutting down; ${describeSlot(this.slot)} was still waiting. Send the call to another process`,
      ),
    );
  }

  cut(): void {
    this.stop.stop("shutdown");
  }

  async run(): Promise<AgentReply> {
    let leave: (() => void) | undefined;
    const detach = this.#heedCaller();
    let reason = "error";
    try {
      leave = this.#parts.lifecycle.enter(this);
      const reply = await compose(this.#parts.hooks.onRun, this.#runStep(), async () => {
        this.#begin();
        await this.#parts.lifecycle.start();
        return this.#answer();
      });
      reason = reply.reason;
      return reply;
    } catch (error) {
      this.#begin();
      this.#emit({
        type: "error",
        code: HoldfastError.is(error) ? error.code : "UNKNOWN",
        message: HoldfastError.is(error) ? error.message : "a model, tool or hook failed",
      });
      throw error;
    } finally {
      detach();
      await this.#subscription?.close().catch(() => undefined);
      this.#begin();
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

  #runStep(): RunStep {
    return {
      slot: this.slot,
      ctx: this.#ctx,
      callId: this.callId,
      observe: (listener) => void this.#watchers.push(listener),
    };
  }

  /** Once, whichever way the call goes: every call's events begin with it. */
  #begin(): void {
    if (this.#seq === 0) this.#emit({ type: "call_start" });
  }

  /** Ties the caller's signal to this call; the function returned unties it. */
  #heedCaller(): () => void {
    const { signal } = this.#ctx;
    if (!signal) return () => undefined;
    const abort = () => {
      this.stop.stop("abort", { cause: signal.reason });
      this.#leave.abort(callAborted(this.slot, signal.reason));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  }

  /** Waits for the session, then answers; a repeated call gets the reply of the first. */
  #answer(): Promise<AgentReply> {
    const { onBusy = "enqueue", queueTimeoutMs } = this.#ctx;
    const entry: EntryOptions = {
      callId: this.callId,
      signal: this.#leave.signal,
      wait: onBusy !== "reject",
      queueTimeoutMs,
      takeBackUnfinished: onBusy === "rollback",
      prepare: () => this.#listen(),
      onWait: () => {
        if (onBusy === "interrupt" || onBusy === "rollback")
          // When the holder cannot be told, waiting for it may take forever.
          this.#stopHolder(onBusy).catch((error) => this.#leave.abort(error));
      },
      emit: (event) => this.#emit(event),
    };
    return withSession(this.#parts, this.slot, entry, async (session) => {
      const { lost } = session.lease;
      const leaseLost = () => this.stop.stop("lease_lost");
      if (lost.aborted) leaseLost();
      lost.addEventListener("abort", leaseLost, { once: true });
      try {
        const isNamed = this.#ctx.callId !== undefined;
        const repeated = isNamed ? await recallReply(this.#parts, session, this.#ctx) : null;
        return repeated ?? (await new Turn(this.#scope(session), this.#input).run());
      } finally {
        lost.removeEventListener("abort", leaseLost);
      }
    });
  }

  /** Before it enters the queue: from then on the call can be seen, and who sees it may want to interrupt it. */
  async #listen(): Promise<void> {
    const { signals, gate } = this.#parts;
    this.#subscription = await signals.listen(
      this.slot,
      this.callId,
      ({ kind, message }) => this.stop.stop(kind, { message }),
      { enters: gate },
    );
  }

  /** Done from within the queue, so that a call which stops another one keeps its place among those that do not. */
  async #stopHolder(kind: "interrupt" | "rollback"): Promise<void> {
    const { gate, signals } = this.#parts;
    const [holder] = await gate.calls(this.slot);
    if (holder !== undefined && holder !== this.callId)
      await signals.send(this.slot, holder, { kind });
  }

  #scope(session: OpenSession): CallScope {
    const { slot, callId, stop } = this;
    const ctx = this.#ctx.child({ ...slot, callId, signal: stop.signal });
    ctx.agentState = session.state;
    session.state.interruptControl = stop;
    return {
      parts: this.#parts,
      session,
      slot,
      ctx,
      callId,
      idempotencyKey: this.#ctx.callId,
      stop,
      usage: this.#usage,
      newInput: [],
      emit: (event) => this.#emit(event),
      checkpoint: () => {
        if (this.#draining) stop.stop("shutdown");
        stop.check();
      },
    };
  }

  #emit(body: EventBody): void {
    // A hook may have left work behind that still has something to tell; `call_end` stays the last of the call.
    if (this.#ended) {
      this.#parts.observe(backgroundEvent(this.slot, this.callId, body));
      return;
    }
    const envelope = { slot: this.slot, callId: this.callId };
    this.#buffer?.push(body, envelope);
    const event: AgentEvent = { ...body, ...envelope, seq: this.#seq++ };
    this.#watch(event);
    this.#parts.observe(event);
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
