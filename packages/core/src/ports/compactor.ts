import type { RuntimeContext } from "../context/runtime-context.js";
import type { EventBody } from "../events/agent-event.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { LogMark } from "./conversation-log.js";
import type { Model, ToolSchema } from "./model.js";

/** Why a compaction is asked for: a round of reasoning comes, the program asks, or the model refused a request. */
export type CompactionCause = "step" | "manual" | "overflow";

/** What a {@link Compactor} works on. */
export interface CompactionRequest {
  readonly slot: Slot;
  readonly state: AgentState;
  readonly ctx: RuntimeContext;
  readonly cause: CompactionCause;
  /** Compact even below the trigger. */
  readonly force: boolean;
  /** One-off options of the caller. */
  readonly overrides: JsonObject;
  readonly signal: AbortSignal;
  /** The agent's model. */
  readonly model: Model;
  /** What a request has besides the context; it takes room too. */
  readonly prompt: RequestPrompt;
  /** The window as the model named it when it refused a request. */
  readonly limitTokens?: number | undefined;
  /** Whether an error of a model means that the request was too long, by the agent's own list too. */
  isOverflow(error: unknown): boolean;
  /** To be awaited with the messages before they leave the context: runs the `onContextDrop` chain. */
  dropping(messages: readonly Message[]): Promise<void>;
  /** Tells whoever watches; the usage in a `model_call_end` counts as the call's. */
  emit(event: EventBody): void;
  /** Leaves a mark in the conversation log, written with the next save. */
  mark(mark: LogMark): void;
}

/** The part of a model request that is not the conversation. */
export interface RequestPrompt {
  readonly system: string;
  readonly tools: readonly ToolSchema[];
}

/** What came of a compaction. */
export interface CompactionResult {
  /** `false`: the context is as it was. */
  readonly compacted: boolean;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Of the whole request, as far as the compactor counts tokens. */
  readonly tokensBefore?: number | undefined;
  readonly tokensAfter?: number | undefined;
  /** Why it could not be done, in words that hold no contents; absent when there was nothing to do. */
  readonly failure?: string | undefined;
}

/**
 * Shortens a context on demand: when the program calls `agent.compact`, and when the model refused a request as too
 * long. One that is `proactive` is asked before every round of reasoning too.
 *
 * Contract:
 * - It edits nothing but the state's context, keeps tool pairs whole and the current request in.
 * - On failure the context is as it was, and it says so: a `failure`, or an error. A failed step is not a failed call.
 * - It stops soon after `signal` aborts and edits nothing from then on.
 */
export interface Compactor {
  /** Ask before every round of reasoning as well, with `cause: "step"` and never forced. @default false */
  readonly proactive?: boolean | undefined;
  compact(request: CompactionRequest): Promise<CompactionResult>;
}
