import type { RuntimeContext } from "../context/runtime-context.js";
import type { EventBody } from "../events/agent-event.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { LogMark } from "./conversation-log.js";
import type { Model, ToolSchema } from "./model.js";

/** Reason for a compaction: before a step of reasoning, requested by the program, or after the model refused a request. */
export type CompactionCause = "step" | "manual" | "overflow";

/** Input of a {@link Compactor}. */
export interface CompactionRequest {
  readonly slot: Slot;
  readonly state: AgentState;
  readonly ctx: RuntimeContext;
  /** Id of the run that compacts. */
  readonly runId?: string | undefined;
  readonly cause: CompactionCause;
  /** Compacts even below the trigger. */
  readonly force: boolean;
  /** One-off options of the caller. */
  readonly overrides: JsonObject;
  readonly signal: AbortSignal;
  /** Model of the agent. */
  readonly model: Model;
  /** System prompt and tools of a request, which take room in the window too. */
  readonly prompt: RequestPrompt;
  /** Context window that the model named when it refused a request. */
  readonly limitTokens?: number | undefined;
  /** Tells whether a model's error means that the request was too long, by the agent's own patterns too. */
  isOverflow(error: unknown): boolean;
  /** Runs the `onContextDrop` hooks; await it with the messages before they leave the context. */
  dropping(messages: readonly Message[]): Promise<void>;
  /** Emits an event of the call; the usage in a `model_call_end` counts towards the call's. */
  emit(event: EventBody): void;
  /** Never called; lets requests of two copies of core fit each other when each knows events that the other does not. */
  emit(event: never): void;
  /** Adds a mark to the conversation log, written with the next save. */
  mark(mark: LogMark): void;
}

/** Part of a model request that is not the conversation. */
export interface RequestPrompt {
  readonly system: string;
  readonly tools: readonly ToolSchema[];
}

/** Result of a compaction. */
export interface CompactionResult {
  /** `false` when the context was not changed. */
  readonly compacted: boolean;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Tokens of the whole request, if the compactor counts them. */
  readonly tokensBefore?: number | undefined;
  /** Tokens of the whole request, if the compactor counts them. */
  readonly tokensAfter?: number | undefined;
  /** Reason for a failure, without contents of messages; absent when there was nothing to do. */
  readonly failure?: string | undefined;
}

/**
 * Shortens a context on demand: when the program calls `agent.compact`, and when the model refused a request as too
 * long. A `proactive` one also runs before every step of reasoning.
 *
 * Contract:
 * - It edits nothing but the state's context, keeps every tool call with its result, and keeps the current request.
 * - On failure it leaves the context unchanged and returns a `failure` or throws. A failed step is not a failed call.
 * - It stops soon after `signal` aborts and edits nothing from then on.
 */
export interface Compactor {
  /** Also runs before every step of reasoning, with `cause: "step"` and never forced. @default false */
  readonly proactive?: boolean | undefined;
  /** Shortens the context of `request.state`. */
  compact(request: CompactionRequest): Promise<CompactionResult>;
}
