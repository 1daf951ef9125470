import { RuntimeContext, type RuntimeContextFields } from "../context/runtime-context.js";
import { AmbiguousInterruptError } from "../errors/errors.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { JsonObject } from "../json/json.js";
import { adoptMessage, createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import type { SlotPage, SlotQuery } from "../ports/agent-state-store.js";
import type { CompactionResult } from "../ports/compactor.js";
import type { Slot } from "../slot/slot.js";
import { checkId, slotText } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import { longestTimerMs } from "../store-kit/deadline.js";
import type { InferInput, ToolInputSchema } from "../tool/input-schema.js";
import { AgentRun, EventBuffer } from "./agent-run.js";
import type { ReActAgentOptions } from "./assemble/agent-options.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { assembleAgent } from "./assemble/assemble-agent.js";
import { Call } from "./call.js";
import type { CallInput } from "./call-input.js";
import type { LifecycleState } from "./session/lifecycle.js";
import { Maintenance, type StateEdit } from "./session/maintenance.js";
import { stateOf } from "./session/open-session.js";
import { type SessionName, sessionArguments } from "./session/slot-arguments.js";

/** What a call may be told; a {@link RuntimeContext} or the same as a plain object. */
export type CallContext = RuntimeContext | RuntimeContextFields;

/** The type of a structured reply, following the `output` schema of a call. */
export type OutputOf<C> = C extends { readonly output: infer S extends ToolInputSchema }
  ? InferInput<S>
  : unknown;

/** What a shutdown came to. */
export interface ShutdownReport {
  /** Calls that were in flight when it began. */
  readonly calls: number;
  /** Those that had to be cut because the time was up. */
  readonly cut: number;
}

/**
 * A stateless agent: it holds configuration only, and one instance serves every user and session.
 *
 * Contract:
 * - Calls on one session run one after another, in order; different sessions run in parallel.
 * - What `call` returned has been saved.
 * - A failed call keeps its input; an interrupted one keeps its work.
 *
 * @example
 * const agent = new ReActAgent({ name: "assistant", model });
 * const reply = await agent.call("Hello", { userId: "alice", sessionId: "s-1" });
 */
export class ReActAgent {
  readonly #parts: AgentParts;
  readonly #maintenance: Maintenance;
  #closed: Promise<void> | undefined;

  /** @throws ConfigurationError with every problem found; no I/O happens */
  constructor(options: ReActAgentOptions) {
    this.#parts = assembleAgent(options);
    this.#maintenance = new Maintenance(this.#parts);
  }

  get name(): string {
    return this.#parts.settings.name;
  }

  get agentId(): string {
    return this.#parts.settings.agentId;
  }

  /** Whether the agent takes calls. */
  get lifecycle(): LifecycleState {
    return this.#parts.lifecycle.state;
  }

  /**
   * Runs one turn and saves it.
   *
   * @throws ShuttingDownError, SessionBusyError, CallAbortedError, PendingConfirmationError, StoreError, and what the model
   * throws. When the last save failed, the error's non-enumerable `reply` holds the reply.
   */
  async call<const C extends CallContext>(
    input: CallInput,
    ctx?: C,
  ): Promise<AgentReply<OutputOf<C>>> {
    const reply = await this.#call(input, ctx, null).run();
    return reply as AgentReply<OutputOf<C>>;
  }

  /**
   * Starts a turn at once; its events can be read while it runs.
   *
   * @throws InvalidInputError | InvalidIdError for input that is no input; everything else comes through `result`
   */
  stream<const C extends CallContext>(input: CallInput, ctx?: C): AgentRun<OutputOf<C>> {
    const buffer = new EventBuffer();
    const call = this.#call(input, ctx, buffer);
    return new AgentRun(call.callId, buffer, call.run() as Promise<AgentReply<OutputOf<C>>>);
  }

  /**
   * Stops the running call of a session, else the first that waits, on whichever node it is; without one, closes tool
   * calls that wait for an answer. The call keeps its work, and `message` is added for the agent to read.
   *
   * Without arguments: the one call in flight of this instance.
   *
   * @returns whether there was something to interrupt
   * @throws AmbiguousInterruptError without arguments, when several calls are in flight
   */
  interrupt(): Promise<boolean>;
  interrupt(session: SessionName, message?: string | Message): Promise<boolean>;
  interrupt(
    userId: string | null | undefined,
    sessionId: string,
    message?: string | Message,
  ): Promise<boolean>;
  async interrupt(...args: readonly unknown[]): Promise<boolean> {
    if (args.length === 0) return this.#interruptOnly();
    const { name, rest } = sessionArguments(args);
    const slot = this.#slot(name);
    const given = rest[0] as string | Message | undefined;
    const message =
      given === undefined
        ? undefined
        : typeof given === "string"
          ? createMessage("user", given, { createdAt: this.#parts.now() })
          : adoptMessage(given);
    // What holds the slot may be an update or a compaction, which nobody interrupts; then it is the first that waits.
    for (const callId of await this.#parts.gate.calls(slot))
      if (await this.#parts.signals.send(slot, callId, { kind: "interrupt", message })) return true;
    return this.#maintenance.closeOpenCalls(slot, message);
  }

  /** A detached copy of a session's state, or null when there is none. Without arguments: the default session. */
  getAgentState(session?: SessionName): Promise<AgentState | null>;
  getAgentState(userId: string | null | undefined, sessionId: string): Promise<AgentState | null>;
  async getAgentState(...args: readonly unknown[]): Promise<AgentState | null> {
    const slot = this.#slot(sessionArguments(args).name);
    const cached = this.#parts.cache.peek(slotText(slot));
    const copy = cached?.state.copy();
    const loaded = await this.#parts.stateStore.load(slot, cached?.revision);
    if (loaded === "unchanged") return copy ?? null;
    return loaded === null ? null : stateOf(slot, loaded);
  }

  /**
   * Edits a session's state under its gate. `edit` changes the state it gets, a fresh one where there was none, or
   * returns a whole state to put in its place.
   *
   * @returns a detached copy of what was saved
   */
  updateAgentState(session: SessionName, edit: StateEdit): Promise<AgentState>;
  updateAgentState(
    userId: string | null | undefined,
    sessionId: string,
    edit: StateEdit,
  ): Promise<AgentState>;
  async updateAgentState(...args: readonly unknown[]): Promise<AgentState> {
    const { name, rest } = sessionArguments(args);
    return this.#maintenance.update(this.#slot(name), rest[0] as StateEdit);
  }

  /**
   * Shortens a session's context now; below the trigger only with `force`.
   *
   * @throws ConfigurationError when no plugin provides a Compactor
   */
  compact(session: SessionName, options?: CompactOptions): Promise<CompactionResult>;
  compact(
    userId: string | null | undefined,
    sessionId: string,
    options?: CompactOptions,
  ): Promise<CompactionResult>;
  async compact(...args: readonly unknown[]): Promise<CompactionResult> {
    const { name, rest } = sessionArguments(args);
    const { force = false, ...overrides } = (rest[0] ?? {}) as CompactOptions;
    return this.#maintenance.compact(this.#slot(name), force, overrides as JsonObject);
  }

  /** This agent's sessions, newest first, approximately. */
  async sessions(query: Omit<SlotQuery, "agentId"> = {}): Promise<SlotPage> {
    if (query.userId !== undefined && query.userId !== null) checkId(query.userId, "userId");
    return this.#parts.stateStore.list({ ...query, agentId: this.agentId });
  }

  /** Deletes a session: state, log and what plugins keep of it. Long-term memory stays. */
  deleteSession(session: SessionName): Promise<boolean>;
  deleteSession(userId: string | null | undefined, sessionId: string): Promise<boolean>;
  async deleteSession(...args: readonly unknown[]): Promise<boolean> {
    return this.#maintenance.delete(this.#slot(sessionArguments(args).name));
  }

  /** Deletes everything of a user: all sessions and long-term memory. Returns how many sessions there were. */
  deleteUser(userId: string): Promise<number> {
    return this.#maintenance.deleteUser(userId);
  }

  /** Runs what plugins do before the first call; a call does so by itself. */
  ready(): Promise<void> {
    return this.#parts.lifecycle.start();
  }

  /**
   * Stops taking calls, lets running ones stop at their next safe point, saved so that the next call on any node goes on
   * from there, and closes. Calls still running after `timeoutMs` are cut.
   */
  async shutdown(
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<ShutdownReport> {
    const { timeoutMs = 30_000 } = options;
    this.#parts.lifecycle.drain();
    const { active } = this.#parts.lifecycle;
    for (const call of active) call.drain();
    let cut = 0;
    const timer = setTimeout(
      () => {
        for (const call of this.#parts.lifecycle.active) {
          cut++;
          call.cut();
        }
      },
      Math.min(timeoutMs, longestTimerMs),
    );
    await this.#parts.lifecycle.idle();
    clearTimeout(timer);
    await this.close();
    return { calls: active.length, cut };
  }

  /** Stops taking calls, waits for the running ones and for background work, and closes. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#parts.lifecycle.drain();
    await this.#parts.lifecycle.idle();
    this.#parts.lifecycle.close();
    const failures: unknown[] = [];
    for (const run of this.#parts.onClose)
      try {
        await run();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }

  #call(input: CallInput, ctx: CallContext | undefined, buffer: EventBuffer | null): Call {
    return new Call(this.#parts, input, RuntimeContext.of(ctx ?? {}), buffer);
  }

  #slot(name: SessionName): Slot {
    return this.#parts.slotOf(RuntimeContext.of(name));
  }

  async #interruptOnly(): Promise<boolean> {
    const calls = this.#parts.lifecycle.active.filter((one) => one instanceof Call);
    if (calls.length > 1)
      throw new AmbiguousInterruptError(
        `${calls.length} calls are in flight; name the session: interrupt(userId, sessionId)`,
      );
    for (const call of calls) call.stop.stop("interrupt");
    return calls.length === 1;
  }
}

/** Options of {@link ReActAgent.compact}; the rest goes to the Compactor as one-off options. */
export interface CompactOptions {
  /** Compact even below the trigger. @default false */
  readonly force?: boolean | undefined;
  readonly [option: string]: unknown;
}
