import {
  type AgentEvent,
  type EventBody,
  type Message,
  type PendingCall,
  textOf,
  type Usage,
} from "@holdfast/core";
import { addUsage, noUsage } from "@holdfast/core/plugin-kit";
import { errorText } from "../http/refusal.js";
import { messageEvents } from "../run/message-events.js";
import { noticeOf } from "../run/notice.js";
import { waitingAfter } from "../run/waiting-calls.js";
import { compactionPart, evictionPart, steeredPart } from "./data-parts.js";
import { partChunks } from "./part-chunks.js";
import { finishReasonOf, statusOf } from "./turn-status.js";
import type { AiSdkVersion, UiChunk } from "./ui-chunk.js";
import { replyId, type UiMessage, type WindowShare } from "./ui-message.js";
import { UiStepWriter } from "./ui-step-writer.js";

/** Options of a {@link UiChunkEncoder}. */
export interface UiChunkEncoderOptions {
  /** @default 6 */
  readonly version?: AiSdkVersion | undefined;
  /** Message that the call goes on with, after an approval. @default a new one */
  readonly continues?: ContinuedMessage | undefined;
  /** Words for an error by its code. */
  readonly errorText?: ((code: string) => string) | undefined;
}

/** Assistant message that a call adds to. */
export interface ContinuedMessage {
  readonly id: string;
  /** Tool calls of the message. */
  readonly toolCallIds: readonly string[];
  /** Parts that the message has already, for a client that does not know them. @default the client does */
  readonly known?: Pick<UiMessage, "parts" | "metadata"> | undefined;
  /** Calls that a person has changed the input of. @default none */
  readonly edited?: readonly Pick<PendingCall, "toolCallId" | "name" | "input">[] | undefined;
  /** Calls of the session that waited when the call began; those that get no result still wait when it ends. @default none */
  readonly pending?: readonly PendingCall[] | undefined;
}

type EventOf<T extends AgentEvent["type"]> = Extract<EventBody, { type: T }>;

/**
 * Turns the events of one call into chunks of the AI SDK's UI message stream.
 *
 * Contract:
 * - The chunks depend on the events alone, and each event is encoded when it comes.
 * - A client folds the chunks to the message that the history has of the same turn, once steps that were taken back are
 *   left out ({@link settledParts}).
 * - Every block, step and tool call that was begun is ended before the last chunk.
 */
export class UiChunkEncoder {
  readonly #version: AiSdkVersion;
  readonly #continues: ContinuedMessage | undefined;
  readonly #errorText: (code: string) => string;
  readonly #steps: UiStepWriter;
  /** Usage of replies that count, and what they take of the window, by message. */
  readonly #usage = new Map<string, { readonly usage: Usage; readonly context?: WindowShare }>();
  readonly #known = new Map<string, Message>();
  #callId = "";
  #hasStarted = false;
  #hasEnded = false;
  /** Message that the last request is to become. */
  #request: string | null = null;
  #pending: readonly PendingCall[];
  #errorCode: string | null = null;
  #isIncomplete = false;

  /** Handlers by type of event; all others have no chunks. */
  readonly #handlers: { readonly [T in AgentEvent["type"]]?: (event: EventOf<T>) => void } = {
    text_delta: (event) => this.#steps.delta("text", event),
    thinking_delta: (event) => this.#steps.delta("reasoning", event),
    data: (event) => this.#steps.file(event),
    tool_call_start: (event) => this.#steps.startTool(event),
    tool_call_delta: (event) => this.#steps.toolDelta(event),
    tool_call_end: (event) => this.#steps.toolReady(event),
    tool_result: (event) => this.#steps.toolResult(event),
    tool_suspended: ({ pending }) => {
      for (const call of pending) this.#steps.toolSuspended(call);
    },
    model_call_start: ({ messageId = null }) => {
      this.#request = messageId;
    },
    model_call_end: ({ purpose, error, usage, contextTokens, contextWindow }) => {
      // Of a reply that has said something: others are no messages.
      if (this.#request === null || this.#steps.step !== this.#request) return;
      if (purpose !== "reasoning" || error !== undefined) return;
      const window = contextWindow === undefined ? {} : { contextWindow };
      const context = contextTokens === undefined ? {} : { context: { contextTokens, ...window } };
      this.#usage.set(this.#request, { usage, ...context });
      this.#steps.complete();
    },
    attempt_discarded: ({ messageId }) => {
      this.#usage.delete(messageId);
      if (this.#steps.step === messageId) this.#steps.discard(1);
    },
    run_resumed: ({ messageIds }) => this.#goOn(messageIds),
    state_saved: () => this.#steps.saved(),
    compaction_end: (event) => this.#steps.addBetween(compactionPart(event)),
    tool_result_evicted: (event) => this.#steps.addBetween(evictionPart(event)),
    steered: ({ messageIds }) => {
      for (const id of messageIds) this.#steps.addBetween(steeredPart(id, this.#wordsOf(id)));
    },
    events_dropped: () => {
      this.#isIncomplete = true;
    },
    error: ({ code }) => {
      this.#errorCode = code;
    },
    call_end: ({ reason }) => this.#end(reason),
  };

  constructor(options: UiChunkEncoderOptions = {}) {
    this.#version = options.version ?? 6;
    this.#continues = options.continues;
    this.#pending = options.continues?.pending ?? [];
    this.#errorText = options.errorText ?? errorText;
    this.#steps = new UiStepWriter(this.#version, options.continues?.toolCallIds ?? []);
  }

  /** True once the last chunk was returned. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Tells the encoder what messages say that events name by their ids alone: those of `steered` and `run_resumed`. */
  know(messages: Iterable<Message>): void {
    for (const message of messages) this.#known.set(message.id, message);
  }

  /**
   * Tells the encoder what waits once a call has failed, before its end: what the events told may not be saved, and of an answer that
   * another page gave first there are none.
   */
  knowPending(pending: readonly PendingCall[]): void {
    // Words that fail begin a message, which calls of another one are no part of.
    const isOwn = ({ toolCallId }: PendingCall) =>
      this.#continues || this.#steps.hasTool(toolCallId);
    this.#pending = pending.filter(isOwn);
  }

  /** Returns the chunks of the next event. */
  encode(event: AgentEvent): readonly UiChunk[] {
    if (this.#hasEnded || event.background) return [];
    if (!this.#hasStarted) this.#start(event.callId);
    this.#handle(event);
    const notice = noticeOf(event);
    if (notice) {
      const { name, id, data } = notice;
      const part = { ...(id !== undefined && { id }), data, transient: true as const };
      this.#steps.add({ type: `data-${name}`, ...part });
    }
    return this.#steps.take();
  }

  /** Returns the chunks that end a stream whose call did not end in it. */
  cut(): readonly UiChunk[] {
    if (this.#hasEnded) return [];
    this.#hasEnded = true;
    this.#steps.endStep();
    this.#steps.add({ type: "error", errorText: this.#errorText("UNAVAILABLE") });
    return this.#steps.take();
  }

  #handle(event: EventBody): void {
    this.#pending = waitingAfter(event, this.#pending);
    (this.#handlers[event.type] as ((event: EventBody) => void) | undefined)?.(event);
  }

  #wordsOf(messageId: string): string {
    const message = this.#known.get(messageId);
    return message ? textOf(message) : "";
  }

  /**
   * Goes on with a run that died. What it had said and not saved does not count; what it had saved, and this stream did not get to
   * the end, comes from the messages themselves where they are known.
   */
  #goOn(messageIds: readonly string[]): void {
    const counts = (id: string) =>
      messageIds.includes(id) && (this.#steps.isComplete(id) || !this.#known.has(id));
    for (const id of this.#steps.keep(counts)) this.#usage.delete(id);
    for (const id of messageIds) {
      const message = this.#known.get(id);
      if (!message || message.role === "user" || this.#steps.isComplete(id)) continue;
      // Also results that were shown: one that was not saved has another outcome now.
      for (const event of messageEvents(message)) this.#handle(event);
    }
  }

  #start(callId: string): void {
    this.#hasStarted = true;
    this.#callId = callId;
    const { id = replyId(callId), known, edited = [] } = this.#continues ?? {};
    const { usage } = known?.metadata ?? {};
    const metadata = usage && { messageMetadata: { usage } };
    this.#steps.add({ type: "start", messageId: id, ...metadata });
    for (const chunk of partChunks(known?.parts ?? [], this.#version)) this.#steps.add(chunk);
    for (const { toolCallId, name: toolName, input } of edited)
      this.#steps.add({ type: "tool-input-available", toolCallId, toolName, input, dynamic: true });
  }

  /**
   * Asks for the approvals that are still open: until the call has ended, what it asks may be closed by an interrupt, and no
   * answer is accepted.
   */
  #ask(): void {
    if (this.#version < 6) return;
    // What a subagent asks is not a call of this message; the metadata tells of it.
    for (const { toolCallId, state } of this.#pending)
      if (state === "asking" && this.#steps.hasTool(toolCallId))
        this.#steps.addBetween({
          type: "tool-approval-request",
          approvalId: toolCallId,
          toolCallId,
        });
  }

  #end(reason: string): void {
    const status = statusOf(reason);
    const steps = this.#steps;
    if (status === "waiting") this.#ask();
    // What has no result waits on when an answer fails.
    else if (status !== "error") this.#pending = [];
    // An interrupted reply of thoughts alone is not kept.
    if (status === "interrupted" && steps.step !== null && !steps.saysSomething) steps.discard(1);
    steps.endStep();
    this.#hasEnded = true;
    const replies = [...this.#usage.values()];
    const { context } = replies.findLast((reply) => reply.context) ?? {};
    const usage = replies.map((reply) => reply.usage).reduce(addUsage, noUsage);
    const messageMetadata = {
      status,
      pending: this.#pending,
      usage: { [this.#callId]: usage },
      ...(context && { context }),
      ...(this.#isIncomplete && { incomplete: true }),
    };
    if (status === "interrupted") steps.add({ type: "abort", reason });
    if (status === "error") {
      steps.add({ type: "message-metadata", messageMetadata });
      steps.add({ type: "error", errorText: this.#errorText(this.#errorCode ?? "INTERNAL") });
    } else {
      const finishReason = finishReasonOf(status, reason, this.#version);
      steps.add({ type: "finish", finishReason, messageMetadata });
    }
  }
}
