import type { RuntimeContext } from "../context/runtime-context.js";
import {
  CallAbortedError,
  HoldfastError,
  ShuttingDownError,
  StateTooLargeError,
} from "../errors/index.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import { messageBytes } from "../message/read-message.js";
import type { RunStep } from "../middleware/middleware.js";
import type { Subscription } from "../ports/signal-bus.js";
import { checkId, describeSlot, type Slot, slotText } from "../slot/slot.js";
import { uuidv7 } from "../slot/uuid.js";
import type { EventBuffer } from "./agent-run.js";
import { type AgentParts, backgroundEvent } from "./assemble/agent-parts.js";
import { onion } from "./assemble/compose.js";
import { observer } from "./assemble/observer.js";
import { type CallInput, type ReadInput, readInput } from "./call-input.js";
import { UsageMeter } from "./loop/call-scope.js";
import type { ArrivalOrder } from "./session/arrival-order.js";
import { recallReply } from "./session/finished-calls.js";
import type { ActiveCall, Lifecycle } from "./session/lifecycle.js";
import { OpenSession } from "./session/open-session.js";
import type { StateCache } from "./session/state-cache.js";
import { StopSwitch } from "./session/stop-switch.js";
import { Turn, type TurnCall } from "./turn.js";

/** What an agent shares with its calls. */
export interface CallHost {
  readonly parts: AgentParts;
  readonly cache: StateCache;
  readonly lifecycle: Lifecycle;
  readonly order: ArrivalOrder;
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
  #subscription: Subscription | undefined;
  readonly #watchers: ((event: AgentEvent) => void)[] = [];
  readonly #watch = observer(this.#watchers);
  #draining = false;
  #seq = 0;
  #ended = false;

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
    const detach = this.#heedCaller();
    let reason = "error";
    try {
      leave = this.#host.lifecycle.enter(this);
      const reply = await onion(this.#host.parts.hooks.onRun, this.#runStep(), async () => {
        this.#begin();
        await this.#host.start();
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
      this.#leave.abort(this.#aborted());
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  }

  async #answer(): Promise<AgentReply> {
    const session = await this.#host.order.arrive(
      slotText(this.slot),
      () => this.#listen(),
      () => this.#open(),
    );
    const { lease } = session;
    const leaseLost = () => this.stop.stop("lease_lost");
    if (lease.lost.aborted) leaseLost();
    lease.lost.addEventListener("abort", leaseLost, { once: true });
    try {
      const repeated = await recallReply(this.#host.parts, session, this.#ctx);
      return repeated ?? (await new Turn(this.#turn(), session).run());
    } finally {
      lease.lost.removeEventListener("abort", leaseLost);
      await lease.release().catch(() => undefined);
    }
  }

  /** Before it enters the queue: from then on the call can be seen, and who sees it may want to interrupt it. */
  async #listen(): Promise<void> {
    const { signals, gate } = this.#host.parts;
    this.#subscription = await signals.listen(
      this.slot,
      this.callId,
      ({ kind, message }) => this.stop.stop(kind, { message }),
      { enters: gate },
    );
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

  #turn(): TurnCall {
    return {
      host: this.#host,
      slot: this.slot,
      callId: this.callId,
      ctx: this.#ctx,
      input: this.#input,
      stop: this.stop,
      usage: this.#usage,
      isDraining: () => this.#draining,
      emit: (event) => this.#emit(event),
      aborted: () => this.#aborted(),
    };
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
    const event: AgentEvent = { ...body, ...envelope, seq: this.#seq++ };
    this.#watch(event);
    this.#host.parts.observe(event);
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
