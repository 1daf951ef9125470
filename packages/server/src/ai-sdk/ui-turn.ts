import {
  type JsonObject,
  type JsonValue,
  type LogMark,
  type Message,
  type PendingCall,
  type ToolResultBlock,
  textOf,
  type Usage,
} from "@holdfast/core";
import { addUsage, isRecord, noUsage } from "@holdfast/core/plugin-kit";
import type { HistoryRecord } from "../run/session-records.js";
import { boundedOutput, outputText, outputValue, urlOf } from "../run/tool-output.js";
import { compactionPart, evictionPart, steeredPart } from "./data-parts.js";
import type { AiSdkVersion } from "./ui-chunk.js";
import {
  blockId,
  type DynamicToolPart,
  replyId,
  type ToolApproval,
  type TurnStatus,
  type UiMessage,
  type UiPart,
  type WindowShare,
} from "./ui-message.js";

/** Parts of a tool call, while it is not known yet what becomes of it. */
type OpenToolPart = { -readonly [K in keyof DynamicToolPart]: DynamicToolPart[K] };

/** Assistant message of one turn, built from the records of the log: the message that its events are folded to. */
export class UiTurn {
  readonly #version: AiSdkVersion;
  readonly #contextWindow: number | undefined;
  readonly #parts: UiPart[] = [];
  readonly #tools = new Map<string, OpenToolPart>();
  readonly #approvals = new Map<string, ToolApproval>();
  readonly #usage: Record<string, Usage> = {};
  #firstCallId: string | null = null;
  #lastCallId: string | null = null;
  #createdAt: string | null = null;
  #isInContext: boolean | null = null;
  #status: TurnStatus = "complete";
  #contextTokens = 0;

  /** @param contextWindow - tokens that the model reads at once */
  constructor(version: AiSdkVersion, contextWindow?: number) {
    this.#version = version;
    this.#contextWindow = contextWindow;
  }

  /** True once there is something to show. */
  get hasBegun(): boolean {
    return this.#parts.length > 0;
  }

  /** Last call that is known to have worked on the turn: of a reply, a result or a person's answer. */
  get lastCallId(): string | null {
    return this.#lastCallId;
  }

  /** False when the model sees none of its messages any more. */
  get isInContext(): boolean {
    return this.#isInContext ?? true;
  }

  /** Adds the next record of the log. */
  add({ kind, message, mark, callId, inContext }: HistoryRecord): void {
    this.#firstCallId ??= callId;
    if (kind === "mark" && mark) this.#addMark(mark, callId);
    if (kind !== "message" || !message) return;
    if (message.role !== "user") this.#lastCallId = callId;
    if (message.role === "assistant") this.#addReply(message, callId);
    if (message.role === "tool") this.#addResults(message);
    // Words of the user in the middle of a turn.
    if (message.role === "user") this.#parts.push(steeredPart(message.id, textOf(message)));
    this.#isInContext = this.#isInContext === true || inContext;
  }

  /** Returns the message; `pending` are the calls of it that wait for an answer. */
  message(pending: readonly PendingCall[] = []): UiMessage {
    for (const [toolCallId, approval] of this.#approvals) {
      const tool = this.#tools.get(toolCallId);
      if (tool && this.#version >= 6) tool.approval = approval;
    }
    for (const { toolCallId, state } of pending) {
      const tool = this.#tools.get(toolCallId);
      if (!tool || state !== "asking" || this.#version < 6) continue;
      tool.state = "approval-requested";
      tool.approval = { id: toolCallId };
    }
    return {
      id: replyId(this.#firstCallId ?? ""),
      role: "assistant",
      metadata: {
        status: pending.length > 0 ? "waiting" : this.#status,
        pending,
        usage: this.#usage,
        ...(this.#contextTokens > 0 && { context: this.#share() }),
        ...(this.#createdAt !== null && { createdAt: this.#createdAt }),
      },
      parts: this.#parts,
    };
  }

  #addReply({ id, content, usage, createdAt }: Message, callId: string): void {
    this.#createdAt ??= createdAt;
    this.#addUsage(callId, usage ?? noUsage);
    if (usage && usage.inputTokens > 0)
      this.#contextTokens = usage.inputTokens + usage.outputTokens;
    this.#parts.push({ type: "step-start" });
    let blocks = 0;
    for (const block of content)
      switch (block.type) {
        case "text":
          if (block.text === "") break;
          blocks++;
          this.#parts.push({ type: "text", text: block.text, state: "done" });
          break;
        case "thinking":
          if (block.text === "") break;
          this.#parts.push({
            type: "reasoning",
            id: blockId(id, ++blocks),
            text: block.text,
            state: "done",
          });
          break;
        case "data":
          this.#parts.push({ type: "file", mediaType: block.mediaType, url: urlOf(block) });
          break;
        case "tool_call": {
          const { id: toolCallId, name: toolName, input } = block;
          const state = "input-available";
          const part: OpenToolPart = { type: "dynamic-tool", toolName, toolCallId, state, input };
          this.#tools.set(toolCallId, part);
          this.#parts.push(part);
        }
      }
  }

  #share(): WindowShare {
    const contextWindow = this.#contextWindow;
    const contextTokens = this.#contextTokens;
    return { contextTokens, ...(contextWindow !== undefined && { contextWindow }) };
  }

  #addResults({ content }: Message): void {
    for (const block of content) if (block.type === "tool_result") this.#addResult(block);
  }

  #addResult({ toolCallId, state, output: whole }: ToolResultBlock): void {
    const tool = this.#tools.get(toolCallId);
    if (!tool) return;
    const output = boundedOutput(whole);
    if (state === "success") {
      tool.state = "output-available";
      tool.output = outputValue(output);
    } else if (state === "denied" && this.#version >= 6) tool.state = "output-denied";
    else {
      tool.state = "output-error";
      tool.errorText = outputText(output);
    }
  }

  #addMark({ name, outcome, details = {} }: LogMark, callId: string): void {
    switch (name) {
      case "compaction":
        this.#parts.push(compactionPart(details));
        break;
      case "eviction": {
        const { callId: toolCallId, ...facts } = details;
        this.#parts.push(evictionPart({ ...facts, toolCallId }));
        break;
      }
      case "confirm":
        this.#lastCallId = callId;
        this.#answer(details);
        break;
      case "call_end":
        this.#addUsage(callId, noUsage);
        this.#status = outcome === "interrupted" || outcome === "error" ? outcome : "complete";
    }
  }

  /** Notes what a person answered. */
  #answer({ approved, denied, edited }: JsonObject): void {
    for (const [ids, isApproved] of [
      [approved, true],
      [denied, false],
    ] as const)
      for (const id of Array.isArray(ids) ? ids : [])
        this.#approvals.set(String(id), { id: String(id), approved: isApproved });
    for (const [id, input] of Object.entries(isRecord(edited) ? edited : {})) {
      const tool = this.#tools.get(id);
      if (tool) tool.input = input as JsonValue;
    }
  }

  #addUsage(callId: string, usage: Usage): void {
    this.#usage[callId] = addUsage(this.#usage[callId] ?? noUsage, usage);
  }
}
