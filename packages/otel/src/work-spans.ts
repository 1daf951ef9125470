import type { AgentEvent } from "@holdfast/core";
import type { Context } from "@opentelemetry/api";
import { ChatSpan } from "./chat-span.js";
import { CompactionSpan } from "./compaction-span.js";
import { OTHER_ERROR } from "./names.js";
import type { SpanOwner, Telemetry } from "./telemetry.js";

/** The engine's own steps: they never come while a compaction is under way. */
const stepPurposes: ReadonlySet<string> = new Set(["reasoning", "explanation"]);

/** The model calls and compactions of one piece of work, by its events. */
export class WorkSpans {
  readonly #telemetry: Telemetry;
  readonly #owner: SpanOwner;
  readonly #parent: () => Context;
  readonly #chats = new Set<ChatSpan>();
  #compaction: CompactionSpan | undefined;
  /** The step of which nothing came yet; helper calls show nothing on the way. */
  #answering: ChatSpan | undefined;

  /** @param parent - what a span that begins now belongs under */
  constructor(telemetry: Telemetry, owner: SpanOwner, parent: () => Context) {
    this.#telemetry = telemetry;
    this.#owner = owner;
    this.#parent = parent;
  }

  /** Whether no span is open. */
  get isIdle(): boolean {
    return this.#chats.size === 0 && this.#compaction === undefined;
  }

  /** The newest open call to this model for this purpose. */
  chat(purpose: string, model: string): ChatSpan | undefined {
    return [...this.#chats].findLast((chat) => chat.purpose === purpose && chat.id === model);
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

  /** Ends what is still open. */
  endAll(type: string): void {
    for (const chat of this.#chats) chat.cut(type);
    this.#chats.clear();
    this.#answering = undefined;
    this.#endCompaction(type);
  }

  #begin(event: Extract<AgentEvent, { type: "model_call_start" }>): void {
    const isStep = stepPurposes.has(event.purpose);
    // A compactor that threw has not said so.
    if (isStep) this.#endCompaction(OTHER_ERROR);
    const chat = new ChatSpan(this.#telemetry, this.#owner, event, this.#around());
    this.#chats.add(chat);
    if (isStep) this.#answering = chat;
  }

  #around(): Context {
    const parent = this.#parent();
    return this.#compaction?.holds(parent) ? this.#compaction.context : parent;
  }

  /** Events carry no id of the call: of several alike, it is the one that began as long ago as the event says. */
  #endChat(event: Extract<AgentEvent, { type: "model_call_end" }>): void {
    let ended: ChatSpan | undefined;
    let nearest = Number.POSITIVE_INFINITY;
    for (const chat of this.#chats) {
      if (chat.purpose !== event.purpose || chat.id !== event.model) continue;
      const distance = chat.distanceTo(event.durationMs);
      if (distance > nearest) continue;
      nearest = distance;
      ended = chat;
    }
    if (!ended) return;
    this.#chats.delete(ended);
    if (this.#answering === ended) this.#answering = undefined;
    ended.end(event);
  }

  #endCompaction(type: string): void {
    this.#compaction?.fail(type);
    this.#compaction = undefined;
  }
}
