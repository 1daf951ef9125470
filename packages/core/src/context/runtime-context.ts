import type { JsonObject } from "../json/json.js";
import type { AgentState } from "../state/agent-state.js";
import type { ToolInputSchema } from "../tool/input-schema.js";
import { CallRuntimeContext } from "./call-runtime-context.js";

/** A class, used as the key of its own singleton. Abstract ones too. */
export type TypeKey<T> = abstract new (...args: never[]) => T;

/** Behaviour of a call whose session is running another one. */
export type OnBusy = "enqueue" | "reject" | "interrupt" | "rollback";

/** Settings of one call; the plain-object form of a {@link RuntimeContext}. */
export interface RuntimeContextFields {
  /** Absent or null: anonymous. */
  readonly userId?: string | null | undefined;
  /** Absent: the agent's `defaultSessionId`. */
  readonly sessionId?: string | undefined;
  /** Ends the call when aborted, whether it waits or runs; what it did is saved. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Idempotency key: a call repeated with it and the same input gets the reply of its first run, or goes on with that run if
   * it has none, as long as the session remembers it (`rememberCalls`). @default a new id, which is not remembered
   */
  readonly callId?: string | undefined;
  /** @default "enqueue" */
  readonly onBusy?: OnBusy | undefined;
  /**
   * With a new message while tool calls wait for an answer: `"refuse"` throws `PendingConfirmationError`, `"deny"` answers them
   * with a denial and goes on with the message. @default "refuse"
   */
  readonly onPending?: "refuse" | "deny" | undefined;
  /** Longest wait for the session's turn; none by default. */
  readonly queueTimeoutMs?: number | undefined;
  /** Schema of a structured reply: the call then ends with `reason: "structured_output"`. */
  readonly output?: ToolInputSchema | undefined;
  /** String-keyed attributes for hooks and tools. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** The part of an agent that {@link RuntimeContext.resolveAgentState} uses. */
export interface AgentStateSource {
  getAgentState(slot: { userId?: string | null; sessionId?: string }): Promise<AgentState | null>;
}

/**
 * Context that travels with one call: its owner, how to stop it, and anything hooks and tools should share.
 *
 * Contract:
 * - Each call works on a child of its own: the caller's object is never changed, so one object serves two
 *   concurrent calls.
 * - Hooks and tools of one call share one child.
 * - Nothing in it is persisted.
 *
 * @example
 * const ctx = RuntimeContext.builder().userId("alice").sessionId("s-1").put("requestId", "r-7").build();
 */
export interface RuntimeContext extends RuntimeContextFields {
  readonly userId: string | null;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly callId: string | undefined;
  readonly onBusy: OnBusy | undefined;
  readonly onPending: "refuse" | "deny" | undefined;
  readonly queueTimeoutMs: number | undefined;
  readonly output: ToolInputSchema | undefined;
  /** State this call works on; the engine sets it. Hooks and tools read state from here. */
  agentState: AgentState | undefined;
  /** String-keyed attributes themselves. */
  readonly extra: Record<string, unknown>;
  get<T>(key: TypeKey<T>): T | undefined;
  get(key: string): unknown;
  /** Sets an attribute or a typed singleton; `undefined` removes it. */
  put<T>(key: TypeKey<T>, value: T | undefined): this;
  put(key: string, value: unknown): this;
  /** Returns a context with the same attributes, copied, and other fields where given; an undefined one is not given. */
  child(fields?: RuntimeContextFields): RuntimeContext;
  /** Returns a context that shares its attributes with this one and has another signal. */
  withSignal(signal: AbortSignal): RuntimeContext;
  /** Returns a plain summary for logs: ids only, no attributes. */
  toJSON(): JsonObject;
}

/** Ways to make a {@link RuntimeContext}, and to find the state behind one. */
export interface RuntimeContextFactory {
  /** Starts from nothing, or from a copy of `source`. */
  builder(source?: RuntimeContext): RuntimeContextBuilder;
  /** Returns `fields` as a context; one that is a context already stays as it is. */
  of(fields: RuntimeContextFields): RuntimeContext;
  empty(): RuntimeContext;
  /** Returns the state of `ctx` while a call runs, else the agent's stored one for the slot `ctx` names. */
  resolveAgentState(
    ctx: RuntimeContext | undefined,
    agent: AgentStateSource,
  ): Promise<AgentState | null>;
}

/** Builds a {@link RuntimeContext} step by step. */
export interface RuntimeContextBuilder {
  userId(userId: string | null): this;
  sessionId(sessionId: string): this;
  signal(signal: AbortSignal): this;
  callId(callId: string): this;
  onBusy(onBusy: OnBusy): this;
  onPending(onPending: "refuse" | "deny"): this;
  queueTimeoutMs(queueTimeoutMs: number): this;
  output(output: ToolInputSchema): this;
  put<T>(key: TypeKey<T>, value: T): this;
  put(key: string, value: unknown): this;
  build(): RuntimeContext;
}

// A value beside the interface: a class would make the types of two installed copies of this package incompatible.
export const RuntimeContext: RuntimeContextFactory = CallRuntimeContext;
