import type { RuntimeContext } from "../context/runtime-context.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { Message, ToolCallBlock, ToolResultBlock } from "../message/message.js";
import type { LogMark } from "../ports/conversation-log.js";
import type { Model, ModelChunk, ModelRequest } from "../ports/model.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { Tool } from "../tool/tool.js";

/** What every hook can see and do. */
export interface Step {
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  /** The call's own state; edits are saved with the call. */
  readonly state: AgentState;
  /** Aborts when the call should stop. */
  readonly signal: AbortSignal;
  /** Tells whoever watches this call. */
  emit(event: EventBody): void;
  /** Leaves a mark in the conversation log, written with the next save. */
  mark(mark: LogMark): void;
}

/** A call from its arrival to its last save: the queue, the load and the turn. */
export interface RunStep {
  readonly slot: Slot;
  /** As the caller gave it. */
  readonly ctx: RuntimeContext;
  readonly callId: string;
  /**
   * Shows the events of this very run, also when another has the same `callId`: from `call_start` to `call_end`, which comes
   * when all hooks have returned. It must return at once; what it throws is ignored.
   */
  observe(listener: (event: AgentEvent) => void): void;
}

/** A whole call, with the state loaded and the input not yet in the context. */
export interface CallStep extends Step {
  readonly input: readonly Message[];
}

/** One round of thinking. */
export interface ReasoningStep extends Step {
  /** 0 for the first of the call. */
  readonly iteration: number;
  /** Adds text to the tail of this request only; it is never persisted. */
  hint(text: string, source: string): void;
  /** Ends the call with `reason: "middleware_stop"` after this step. */
  stop(): void;
}

/** One request to a model. Replace `request` to change what is sent; changes are never persisted. */
export interface ModelCallStep extends Step {
  /** As in its events. */
  readonly requestId: string;
  readonly purpose: string;
  readonly model: Model;
  request: ModelRequest;
}

/** The tool calls of one assistant message. */
export interface ActingStep extends Step {
  readonly calls: readonly ToolCallBlock[];
  /** Ends the call with `reason: "middleware_stop"` after this step. */
  stop(): void;
}

/** One tool call about to run. */
export interface ToolCallStep extends Step {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
}

/** Messages about to leave the context for good. */
export interface ContextDropStep extends Step {
  readonly messages: readonly Message[];
}

/** What a system-prompt hook can see. */
export interface PromptStep {
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  readonly state: AgentState;
}

/**
 * Code around the steps of a call. A middleware has only the hooks it needs.
 *
 * Contract:
 * - Hooks with `next` are onions: call `next` once, return what it returned or something of the same kind.
 * - The user's run outside the built-in ones; `onSystemPrompt` and `onToolResult` are pipelines in the same order.
 * - One instance serves all sessions at once: keep state in `step.state` or `step.ctx`, not in variables.
 *
 * @example
 * const timed: Middleware = {
 *   name: "timed",
 *   async onToolCall(step, next) {
 *     const began = performance.now();
 *     const result = await next();
 *     console.log(step.call.name, performance.now() - began);
 *     return result;
 *   },
 * };
 */
export interface Middleware {
  /** Unique within an agent. */
  readonly name: string;
  /** Around everything of a call. Starts before `call_start`, in the caller's own tick. */
  onRun?(step: RunStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  onCall?(step: CallStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  onReasoning?(step: ReasoningStep, next: () => Promise<Message>): Promise<Message>;
  onModelCall?(
    step: ModelCallStep,
    next: () => AsyncIterable<ModelChunk>,
  ): AsyncIterable<ModelChunk>;
  onActing?(
    step: ActingStep,
    next: () => Promise<readonly ToolResultBlock[]>,
  ): Promise<readonly ToolResultBlock[]>;
  onToolCall?(step: ToolCallStep, next: () => Promise<ToolResultBlock>): Promise<ToolResultBlock>;
  /** A pipeline over every result before it enters the context, also one that comes from outside (`{ results }`). */
  onToolResult?(
    result: ToolResultBlock,
    step: ToolCallStep,
  ): ToolResultBlock | Promise<ToolResultBlock>;
  onContextDrop?(step: ContextDropStep, next: () => Promise<void>): Promise<void>;
  onSystemPrompt?(prompt: string, step: PromptStep): string | Promise<string>;
}
