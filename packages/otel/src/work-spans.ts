import type { AgentEvent } from "@holdfast/core";
import type { Context } from "@opentelemetry/api";
import { ChatSpan } from "./chat-span.js";
import { CompactionSpan } from "./compaction-span.js";
import { OTHER_ERROR } from "./names.js";
import type { SpanOwner, Telemetry } from "./telemetry.js";

/** Purposes of the engine's own steps, which never run during a compaction. */
const stepPurposes: ReadonlySet<string> = new Set(["reasoning", "explanation"]);

/** Spans of the model calls and compactions of one piece of work, made from its events. */
export class WorkSpans {
  readonly #telemetry: Telemetry;
  readonly #owner: SpanOwner;
  readonly #parent: () => Context;
  /** Open model calls by request id. */
  readonly #chats = new Map<string, ChatSpan>();
  #compaction: CompactionSpan | undefined;
  /** The step whose reply has not begun; the replies of helper calls are not streamed as events. */
  #answering: ChatSpan | undefined;

  /** @param parent - returns the parent of a span that starts now */
  constructor(telemetry: Telemetry, owner: SpanOwner, parent: () => Context) {
    this.#telemetry = telemetry;
    this.#owner = owner;
    this.#parent = parent;
  }

  /** True if no span is open. */
  get isIdle(): boolean {
    return this.#chats.size === 0 && this.#compaction === undefined;
  }

  /** Returns an open model call. */
  chat(requestId: string): ChatSpan | undefined {
    return this.#chats.get(requestId);
  }

  observe(event: AgentEvent): void {
    switch (event.type) {
      case "model_call_start":
        this.#begin(event);
        break;
      case "text_delta":
      case "thinking_delta":
      case "data":
      case "tool_call_start":
        this.#answering?.answers();
        this.#answering = undefined;
        break;
      case "model_call_end":
        this.#endChat(event);
        break;
      case "compaction_start":
        this.#endCompaction(OTHER_ERROR);
        this.#compaction = new CompactionSpan(this.#telemetry, this.#owner, event, this.#parent());
        break;
      case "compaction_end":
        this.#compaction?.end(event);
        this.#compaction = undefined;
        break;
      case "compaction_failed":
        this.#endCompaction(event.error);
        break;
    }
  }

  /** Ends all open spans. */
  endAll(type: string): void {
    for (const chat of this.#chats.values()) chat.cut(type);
    this.#chats.clear();
    this.#answering = undefined;
    this.#endCompaction(type);
  }

  #begin(event: Extract<AgentEvent, { type: "model_call_start" }>): void {
    const isStep = stepPurposes.has(event.purpose);
    // A compactor that threw has not reported its end.
    if (isStep) this.#endCompaction(OTHER_ERROR);
    const chat = new ChatSpan(this.#telemetry, this.#owner, event, this.#around());
    this.#chats.set(event.requestId, chat);
    if (isStep) this.#answering = chat;
  }

  #around(): Context {
    const parent = this.#parent();
    return this.#compaction?.holds(parent) ? this.#compaction.context : parent;
  }

  #endChat(event: Extract<AgentEvent, { type: "model_call_end" }>): void {
    const ended = this.#chats.get(event.requestId);
    if (!ended) return;
    this.#chats.delete(event.requestId);
    if (this.#answering === ended) this.#answering = undefined;
    ended.end(event);
  }

  #endCompaction(type: string): void {
    this.#compaction?.fail(type);
    this.#compaction = undefined;
  }
}
