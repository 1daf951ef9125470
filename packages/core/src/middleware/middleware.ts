import type { RuntimeContext } from "../context/runtime-context.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { Message, ToolCallBlock, ToolResultBlock } from "../message/message.js";
import type { LogMark } from "../ports/conversation-log.js";
import type { Model, ModelChunk, ModelRequest } from "../ports/model.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { Tool } from "../tool/tool.js";

/** Context of every hook inside a call. */
export interface Step {
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  /** State of the session; edits are saved with the call. */
  readonly state: AgentState;
  /** Aborts when the call should stop. */
  readonly signal: AbortSignal;
  /** Emits an event of this call. */
  emit(event: EventBody): void;
  /** Adds a mark to the conversation log, written with the next save. */
  mark(mark: LogMark): void;
}

/** Context of `onRun`: a call from its arrival to its last save, including queueing and loading. */
export interface RunStep {
  readonly slot: Slot;
  /** Context as the caller passed it. */
  readonly ctx: RuntimeContext;
  readonly callId: string;
  /**
   * Subscribes to the events of this run, from `call_start` to `call_end`, which is emitted after all hooks returned.
   * Events of another run with the same `callId` are not among them. The listener must return at once; its errors are
   * ignored.
   */
  observe(listener: (event: AgentEvent) => void): void;
}

/** Context of `onCall`: a call whose state is loaded and whose input is not in the context yet. */
export interface CallStep extends Step {
  readonly input: readonly Message[];
}

/** Context of `onReasoning`: one step of reasoning, with its model calls. */
export interface ReasoningStep extends Step {
  /** Number of the step within the call, from 0. */
  readonly iteration: number;
  /** Adds text to the end of this request only; it is never persisted. */
  hint(text: string, source: string): void;
  /** Ends the call with `reason: "middleware_stop"` after this step. */
  stop(): void;
}

/** Context of `onModelCall`: one request to a model. Assign `request` to change it; changes are never persisted. */
export interface ModelCallStep extends Step {
  /** Id of the request, as in its events. */
  readonly requestId: string;
  /** Why the model is called: `reasoning`, or for example `summary` or `memory_flush`. */
  readonly purpose: string;
  readonly model: Model;
  request: ModelRequest;
}

/** Context of `onActing`: the tool calls of one assistant message. */
export interface ActingStep extends Step {
  readonly calls: readonly ToolCallBlock[];
  /** Ends the call with `reason: "middleware_stop"` after this step. */
  stop(): void;
}

/** Context of `onToolCall` and `onToolResult`: one tool call. */
export interface ToolCallStep extends Step {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
}

/** Context of `onContextDrop`: messages about to leave the context for good. */
export interface ContextDropStep extends Step {
  readonly messages: readonly Message[];
}

/** Context of `onSystemPrompt`. */
export interface PromptStep {
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  readonly state: AgentState;
}

/**
 * Runs code around the steps of a call. A middleware has only the hooks it needs.
 *
 * Contract:
 * - A hook with `next` runs around its step: code before `next()` runs before the step, code after it runs after. Call
 *   `next` once, and return its result or another of the same type.
 * - The first middleware is the outermost; those of the user are outside the built-in ones.
 * - `onSystemPrompt` and `onToolResult` are pipelines: each gets the value that the one before it returned, in the same
 *   order.
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
  /** Runs around the whole call, including queueing and loading; starts before `call_start`, in the caller's own tick. */
  onRun?(step: RunStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  /** Runs around a call once its state is loaded. */
  onCall?(step: CallStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  /** Runs around one step of reasoning; resolves to the assistant message. */
  onReasoning?(step: ReasoningStep, next: () => Promise<Message>): Promise<Message>;
  /** Runs around one request to a model; returns its stream of chunks. */
  onModelCall?(
    step: ModelCallStep,
    next: () => AsyncIterable<ModelChunk>,
  ): AsyncIterable<ModelChunk>;
  /** Runs around the tool calls of one assistant message. */
  onActing?(
    step: ActingStep,
    next: () => Promise<readonly ToolResultBlock[]>,
  ): Promise<readonly ToolResultBlock[]>;
  /** Runs around one tool call. */
  onToolCall?(step: ToolCallStep, next: () => Promise<ToolResultBlock>): Promise<ToolResultBlock>;
  /** Changes a tool result before it enters the context, including one passed in with `{ results }`. */
  onToolResult?(
    result: ToolResultBlock,
    step: ToolCallStep,
  ): ToolResultBlock | Promise<ToolResultBlock>;
  /** Runs before messages leave the context for good, for example to save facts in them. */
  onContextDrop?(step: ContextDropStep, next: () => Promise<void>): Promise<void>;
  /** Changes the system prompt. */
  onSystemPrompt?(prompt: string, step: PromptStep): string | Promise<string>;
}
