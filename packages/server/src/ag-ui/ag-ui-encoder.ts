import type { AgentEvent, JsonObject, JsonValue, PendingCall } from "@holdfast/core";
import { errorText } from "../http/refusal.js";
import { noticeOf } from "../run/notice.js";
import { outputText, urlOf } from "../run/tool-output.js";
import { waitingAfter } from "../run/waiting-calls.js";
import type { AgUiEvent, AgUiOutcome } from "./ag-ui-event.js";
import { waitingOutcome } from "./ag-ui-interrupts.js";

/** Options of an {@link AgUiEncoder}. */
export interface AgUiEncoderOptions {
  readonly threadId: string;
  readonly runId: string;
  /** Version that the client speaks; those before 1.0 name none. @default none */
  readonly protocolVersion?: string | undefined;
  /** State of the client, to which todo list and plan mode are added. @default {} */
  readonly state?: JsonObject | undefined;
  /** Tool calls of earlier runs that this one may have results of. @default none */
  readonly toolCallIds?: readonly string[] | undefined;
  /** Calls of the session that waited when the run began; those that get no result still wait when it ends. @default none */
  readonly pending?: readonly PendingCall[] | undefined;
  /** Words for an error by its code. */
  readonly errorText?: ((code: string) => string) | undefined;
}

/** Part of a step that was streamed. */
class Streamed {
  /** Message that the step becomes. */
  readonly of: string;
  /** All that the model says in the step was streamed. */
  isComplete = false;
  readonly messageIds: string[] = [];
  readonly toolCallIds: string[] = [];

  constructor(of: string) {
    this.of = of;
  }
}

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

/**
 * Turns the events of one call into events of AG-UI 1.0, which clients of 0.0.59 accept as well.
 *
 * Contract:
 * - The events depend on those of the call alone, and each is encoded when it comes.
 * - Everything that was begun is ended before the last event.
 * - AG-UI has no way to take back what was streamed: `holdfast.discarded` names messages and tool calls that do not count.
 */
export class AgUiEncoder {
  readonly #options: AgUiEncoderOptions;
  /** Tool calls without a result, by whether their arguments are complete. */
  readonly #tools = new Map<string, "open" | "ready">();
  /** Tool calls of which arguments were streamed. */
  readonly #hasArgs = new Set<string>();
  #state: JsonObject;
  #out: AgUiEvent[] = [];
  #hasStarted = false;
  #hasEnded = false;
  #step: { readonly name: string; readonly messageId: string } | null = null;
  #steps = 0;
  #block: { readonly isText: boolean; readonly id: string; readonly of: string } | null = null;
  /** Messages and tool calls of the open step, and of the steps that are not known to be saved. */
  #streamed = new Streamed("");
  #unsaved: Streamed[] = [];
  /** The open step has words, a file or a tool call. */
  #saysSomething = false;
  #pending: readonly PendingCall[];
  #compactions = 0;
  readonly #models = new Map<string, { inputTokens: number; outputTokens: number }>();
  #errorCode: string | null = null;

  /** Handlers by type of event; all others have no events. */
  readonly #handlers: { readonly [T in AgentEvent["type"]]?: (event: EventOf<T>) => void } = {
    text_delta: (event) => this.#delta(true, event),
    thinking_delta: (event) => this.#delta(false, event),
    data: (event) => {
      this.#enterStep(event.messageId);
      this.#saysSomething = true;
      const { mediaType, name = null } = event;
      this.#custom("file", { mediaType, name, url: urlOf(event) });
    },
    tool_call_start: (event) => this.#startTool(event),
    tool_call_delta: ({ toolCallId, inputDelta: delta }) => {
      if (this.#tools.get(toolCallId) !== "open") return;
      this.#hasArgs.add(toolCallId);
      this.#add({ type: "TOOL_CALL_ARGS", toolCallId, delta });
    },
    tool_call_end: (event) => this.#endTool(event),
    tool_result: ({ toolCallId, output }) => this.#result(toolCallId, outputText(output)),
    model_call_end: ({ model, usage, purpose, error }) => {
      if (purpose === "reasoning" && error === undefined && this.#step)
        this.#streamed.isComplete = true;
      const { inputTokens = 0, outputTokens = 0 } = this.#models.get(model) ?? {};
      this.#models.set(model, {
        inputTokens: inputTokens + usage.inputTokens,
        outputTokens: outputTokens + usage.outputTokens,
      });
    },
    attempt_discarded: ({ messageId }) => {
      if (this.#step?.messageId === messageId) this.#discard();
    },
    run_resumed: ({ messageIds }) => {
      const last = this.#unsaved.findLastIndex(({ of }) => messageIds.includes(of));
      const lost = this.#unsaved.slice(last + 1);
      if (lost.length > 0) this.#discard(lost);
      this.#unsaved = [];
    },
    state_saved: () => {
      this.#unsaved = this.#unsaved.filter(({ isComplete }) => !isComplete);
    },
    compaction_start: ({ cause }) => this.#compaction({ status: "running", cause }),
    compaction_failed: ({ cause }) => this.#compaction({ status: "failed", cause }),
    compaction_end: ({ cause, tokensBefore, tokensAfter }) => {
      this.#compaction({ status: "done", cause, tokensBefore, tokensAfter });
      this.#compactions++;
    },
    tool_result_evicted: ({ toolCallId, name, chars, reference }) =>
      this.#custom("eviction", { toolCallId, name, chars, reference }),
    steered: ({ messageIds }) => this.#custom("steered", { messageIds: [...messageIds] }),
    events_dropped: ({ count }) => this.#custom("incomplete", { count }),
    todos_changed: ({ todos }) => this.#setState({ todos: todos as unknown as JsonValue }),
    plan_entered: ({ planFile }) => this.#setState({ plan: { active: true, planFile } }),
    plan_exited: ({ planFile }) => this.#setState({ plan: { active: false, planFile } }),
    error: ({ code }) => {
      this.#errorCode = code;
    },
    call_end: ({ reason }) => this.#end(reason),
  };

  constructor(options: AgUiEncoderOptions) {
    this.#options = options;
    this.#state = options.state ?? {};
    this.#pending = options.pending ?? [];
    for (const id of options.toolCallIds ?? []) this.#tools.set(id, "ready");
    for (const { toolCallId } of this.#pending) this.#tools.set(toolCallId, "ready");
  }

  /** True once the last event was returned. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns the events of the call's next event. */
  encode(event: AgentEvent): readonly AgUiEvent[] {
    if (this.#hasEnded || event.background) return [];
    this.#out = [];
    if (!this.#hasStarted) this.#start();
    this.#pending = waitingAfter(event, this.#pending);
    (this.#handlers[event.type] as ((event: AgentEvent) => void) | undefined)?.(event);
    const notice = noticeOf(event);
    if (notice && !isState(notice.name)) this.#custom(notice.name, notice.data);
    return this.#out;
  }

  /** Returns the events that end a stream whose call did not end in it. */
  cut(): readonly AgUiEvent[] {
    this.#out = [];
    if (!this.#hasEnded) {
      if (!this.#hasStarted) this.#start();
      this.#end("error", "UNAVAILABLE");
    }
    return this.#out;
  }

  #add(event: AgUiEvent): void {
    this.#out.push(event);
  }

  #start(): void {
    const { threadId, runId, protocolVersion } = this.#options;
    this.#hasStarted = true;
    const version = protocolVersion === undefined ? {} : { protocolVersion: "1.0" };
    this.#add({ type: "RUN_STARTED", threadId, runId, ...version });
  }

  #custom(name: string, value: JsonValue): void {
    this.#add({ type: "CUSTOM", name: `holdfast.${name}`, value });
  }

  #setState(change: JsonObject): void {
    this.#state = { ...this.#state, ...change };
    this.#add({ type: "STATE_SNAPSHOT", snapshot: this.#state });
  }

  #compaction(content: Readonly<Record<string, unknown>>): void {
    this.#endBlock();
    const messageId = `${this.#options.runId}.compaction.${this.#compactions}`;
    const activityType = "holdfast.compaction";
    this.#add({ type: "ACTIVITY_SNAPSHOT", messageId, activityType, content });
  }

  #enterStep(messageId: string): void {
    if (this.#step?.messageId === messageId) return;
    this.#endStep();
    this.#step = { name: `step-${++this.#steps}`, messageId };
    this.#streamed = new Streamed(messageId);
    this.#unsaved.push(this.#streamed);
    this.#saysSomething = false;
    this.#add({ type: "STEP_STARTED", stepName: this.#step.name });
  }

  #endStep(): void {
    this.#endBlock();
    for (const [id, state] of this.#tools) if (state === "open") this.#closeTool(id);
    if (this.#step) this.#add({ type: "STEP_FINISHED", stepName: this.#step.name });
    this.#step = null;
  }

  #delta(isText: boolean, event: EventOf<"text_delta" | "thinking_delta">): void {
    this.#enterStep(event.messageId);
    if (this.#block?.of !== event.blockId || this.#block.isText !== isText)
      this.#startBlock(isText, event.messageId, event.blockId);
    this.#saysSomething ||= isText && event.text.trim() !== "";
    const messageId = this.#block?.id ?? "";
    const type = isText ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    this.#add({ type, messageId, delta: event.text });
  }

  #startBlock(isText: boolean, messageId: string, of: string): void {
    this.#endBlock();
    const { messageIds } = this.#streamed;
    // Tool calls belong to the message of the first text.
    const isFirst = isText && !messageIds.includes(messageId);
    const id = isFirst ? messageId : `${messageId}.${messageIds.length + 1}`;
    messageIds.push(id);
    this.#block = { isText, id, of };
    if (isText) this.#add({ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
    else {
      this.#add({ type: "REASONING_START", messageId: id });
      this.#add({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" });
    }
  }

  #endBlock(): void {
    if (!this.#block) return;
    const { isText, id: messageId } = this.#block;
    this.#block = null;
    if (isText) this.#add({ type: "TEXT_MESSAGE_END", messageId });
    else {
      this.#add({ type: "REASONING_MESSAGE_END", messageId });
      this.#add({ type: "REASONING_END", messageId });
    }
  }

  #startTool({ toolCallId, name, messageId }: EventOf<"tool_call_start">): void {
    this.#enterStep(messageId);
    this.#endBlock();
    this.#tools.set(toolCallId, "open");
    this.#streamed.toolCallIds.push(toolCallId);
    const type = "TOOL_CALL_START";
    this.#add({ type, toolCallId, toolCallName: name, parentMessageId: messageId });
  }

  /** Ends the arguments of a call; one whose arguments were not streamed gets them here. */
  #endTool({ toolCallId, input }: EventOf<"tool_call_end">): void {
    if (this.#tools.get(toolCallId) !== "open") return;
    this.#saysSomething = true;
    if (!this.#hasArgs.delete(toolCallId))
      this.#add({ type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) });
    this.#closeTool(toolCallId);
  }

  #closeTool(toolCallId: string): void {
    this.#tools.set(toolCallId, "ready");
    this.#add({ type: "TOOL_CALL_END", toolCallId });
  }

  #result(toolCallId: string, content: string): void {
    // A call of an earlier turn, which the session closes: its run has ended.
    if (!this.#tools.delete(toolCallId)) return;
    this.#endBlock();
    const messageId = `${toolCallId}.result`;
    this.#add({ type: "TOOL_CALL_RESULT", messageId, toolCallId, role: "tool", content });
  }

  /** Says that steps do not count, the open one among them. */
  #discard(steps: readonly Streamed[] = [this.#streamed]): void {
    this.#endStep();
    this.#unsaved = this.#unsaved.filter((step) => !steps.includes(step));
    const messageIds = steps.flatMap((step) => step.messageIds);
    const toolCallIds = steps.flatMap((step) => step.toolCallIds);
    for (const id of toolCallIds)
      this.#result(id, "Not run: this part of the reply does not count.");
    this.#custom("discarded", { messageIds, toolCallIds });
  }

  #end(reason: string, code: string | null = this.#errorCode): void {
    // An interrupted reply of thoughts alone is not kept.
    if (reason === "interrupted" && this.#step && !this.#saysSomething) this.#discard();
    this.#endStep();
    this.#hasEnded = true;
    const { threadId, runId } = this.#options;
    if (reason === "error") {
      const words = this.#options.errorText ?? errorText;
      const message = words(code ?? "INTERNAL");
      this.#add({ type: "RUN_ERROR", message, code: code ?? "INTERNAL" });
      return;
    }
    const usage = [...this.#models].map(([model, tokens]) => ({ model, ...tokens }));
    const outcome = this.#outcome(reason);
    if (!outcome) this.#custom("cancelled", { reason });
    this.#add({ type: "RUN_FINISHED", threadId, runId, ...(outcome && { outcome }), usage });
  }

  #outcome(reason: string): AgUiOutcome | null {
    const { protocolVersion } = this.#options;
    if (reason === "permission_asking" || reason === "tool_suspended")
      return waitingOutcome(this.#pending, protocolVersion);
    if (reason !== "interrupted" && reason !== "shutdown") return { type: "success" };
    // Clients before 1.0 fail at the outcome.
    return protocolVersion === undefined ? null : { type: "cancelled" };
  }
}

/** Tells whether a notice is part of the state, or an activity. */
function isState(name: string): boolean {
  return name === "todos" || name === "plan" || name === "compaction";
}
