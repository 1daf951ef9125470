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
  /** Id of this run of the call; a repeated call runs under an id of its own. */
  readonly runId: string;
  readonly ctx: RuntimeContext;
  /** State of the session; edits are saved with the call. */
  readonly state: AgentState;
  /** Aborts when the call should stop. */
  readonly signal: AbortSignal;
  /**
   * Emits an event of this call: one of core's, or one that a package has added to `EventTypes`.
   *
   * @throws InvalidInputError for an event that has no type, that JSON cannot hold, or of more than 1 MiB
   */
  emit(event: EventBody): void;
  /** Never called; lets steps of two copies of core fit each other when each knows events that the other does not. */
  emit(event: never): void;
  /** Adds a mark to the conversation log, written with the next save. */
  mark(mark: LogMark): void;
}

/** Context of `onRun`: a call from its arrival to its last save, including queueing and loading. */
export interface RunStep {
  readonly slot: Slot;
  /** Context as the caller passed it. */
  readonly ctx: RuntimeContext;
  readonly callId: string;
  readonly runId: string;
  /**
   * Subscribes to the events of this run, from `call_start` to `call_end`, which is emitted after all hooks returned.
   * Events of another run with the same `callId` are not among them. The listener must return at once; its errors are
   * ignored.
   */
  observe(listener: (event: AgentEvent) => void): void;
  /** Never called; lets steps of two copies of core fit each other when each knows events that the other does not. */
  observe(listener: never): void;
}

/** Context of `onIncoming`: a message from outside that nothing has stored yet. There is no state: it may not be loaded. */
export interface IncomingStep extends Pick<Step, "slot" | "ctx" | "signal" | "emit"> {
  /** Call that the message goes to; an id of its own for an interrupt that finds no call. */
  readonly callId: string;
  /**
   * Way in which the message came:
   * - `input`: a message of a call's input
   * - `interrupt`: the message of an interrupt
   * - `steer`: a message for the running call
   * - `tool_result`: the result of a tool that ran here, as a tool message with one `tool_result` block
   * - `results`: one of `{ results }`, in the same form
   * - `confirm`: of `{ confirm }`, an edited input as an assistant message with one `tool_call` block, or the reason of a
   *   denial as a tool message with one `tool_result` block of state `denied`
   * - `answers`: what a person filled in to answer the question of a tool call, as an assistant message with one `tool_call`
   *   block that has it as its input
   * - `update`: a message that an edit by `updateAgentState` adds
   */
  readonly origin:
    | "input"
    | "interrupt"
    | "steer"
    | "tool_result"
    | "results"
    | "confirm"
    | "answers"
    | "update";
  /** Tool call that the message answers or edits, if the session has it. */
  readonly call?: ToolCallBlock | undefined;
  /** Tool of that call, if the agent has it. */
  readonly tool?: Tool | undefined;
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

/**
 * Context of `onModelCall`: one request to a model, of the agent or of a plugin. Assign `request` to change it; changes are
 * never persisted. Throw to refuse the request.
 */
export interface ModelCallStep extends Pick<Step, "slot" | "ctx" | "signal" | "emit"> {
  /** Id of the request, as in its events. */
  readonly requestId: string;
  /**
   * Why the model is called: `reasoning` and `explanation` for the agent's own requests, or what a plugin asks for, for
   * example `summary`, `memory_flush` or `consolidation`.
   */
  readonly purpose: string;
  readonly model: Model;
  request: ModelRequest;
  /** State of the session; null for work in the background, such as a memory flush, which has no call. */
  readonly state: AgentState | null;
  /** Id of this run of the call; null for work in the background, and when the plugin that asks does not know it. */
  readonly runId: string | null;
  /** Adds a mark to the conversation log, written with the next save; null for work in the background. */
  readonly mark: ((mark: LogMark) => void) | null;
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
 *   `next` at most once, before the hook returns, and return its result or another of the same type. Without `next` the step
 *   does not run.
 * - `onIncoming`, `onToolResult` and `onSystemPrompt` are pipelines: each gets the value that the one before it returned, in
 *   the same order, and returns it, changed or not.
 * - A hook that breaks this fails its call with a `MiddlewareError`, which names the middleware and the hook.
 * - The first middleware is the outermost; those of the user are outside the built-in ones. `before` and `after` change that.
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
  /**
   * Names of middleware that this one runs before, which is outside of them. A name that the agent does not have is ignored,
   * so that a plugin can name those it may meet. Middleware without `before` and `after` keep their order.
   */
  readonly before?: string | readonly string[] | undefined;
  /** Names of middleware that this one runs after, which is inside of them. */
  readonly after?: string | readonly string[] | undefined;
  /**
   * Changes a message from outside before anything stores it: inbox, context, log, offloader, memory and events get what it
   * returns. Returns a message of the same role; its id and time stay. Called once per message, also when a call is
   * repeated, resumed or taken over by another process, since those go on with what was stored; a caller that sends its
   * input again has it passed again, and what was stored first is kept.
   */
  onIncoming?(message: Message, step: IncomingStep): Message | Promise<Message>;
  /** Runs around the whole call, including queueing and loading; starts before `call_start`, in the caller's own tick. */
  onRun?(step: RunStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  /** Runs around a call once its state is loaded. */
  onCall?(step: CallStep, next: () => Promise<AgentReply>): Promise<AgentReply>;
  /** Runs around one step of reasoning; resolves to the assistant message. */
  onReasoning?(step: ReasoningStep, next: () => Promise<Message>): Promise<Message>;
  /**
   * Runs around one request to a model, also around those that plugins make for summaries or memory; returns its stream of
   * chunks.
   */
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
  /**
   * Changes a tool result before it enters the context, including one passed in with `{ results }`. The log keeps it as
   * `onIncoming` left it.
   */
  onToolResult?(
    result: ToolResultBlock,
    step: ToolCallStep,
  ): ToolResultBlock | Promise<ToolResultBlock>;
  /** Runs before messages leave the context for good, for example to save facts in them. */
  onContextDrop?(step: ContextDropStep, next: () => Promise<void>): Promise<void>;
  /** Changes the system prompt. */
  onSystemPrompt?(prompt: string, step: PromptStep): string | Promise<string>;
}
