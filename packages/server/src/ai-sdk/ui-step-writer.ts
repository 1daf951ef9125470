import type { AgentEvent, EventBody, PendingCall } from "@holdfast/core";
import { outputText, outputValue, urlOf } from "../run/tool-output.js";
import type { AiSdkVersion, UiChunk } from "./ui-chunk.js";
import { blockId } from "./ui-message.js";

type EventOf<T extends AgentEvent["type"]> = Extract<EventBody, { type: T }>;

/** Tool call of a message. */
interface StreamedTool {
  /** Absent for a call of an earlier part of the message. */
  readonly name?: string | undefined;
  /** Step that the call is part of. */
  readonly step?: string | null | undefined;
  /** `input`: its arguments are being written; `ready`: they are complete; `done`: it has a result. */
  state: "input" | "ready" | "done";
}

/**
 * Writes the steps of a message as chunks: opens and ends steps and blocks as the events need it, and knows the tool calls.
 */
export class UiStepWriter {
  readonly #version: AiSdkVersion;
  readonly #tools = new Map<string, StreamedTool>();
  #out: UiChunk[] = [];
  #step: string | null = null;
  /** Messages of the steps that are not known to be saved, in order. */
  readonly #unsaved = new Set<string>();
  /** Messages of which all was written that the model said. */
  readonly #complete = new Set<string>();
  #block: { readonly kind: "text" | "reasoning"; readonly id: string; readonly of: string } | null =
    null;
  #saysSomething = false;
  /** Number of texts and thoughts in the open step. */
  #blocks = 0;

  /** @param toolCallIds - calls that the message has already */
  constructor(version: AiSdkVersion, toolCallIds: readonly string[]) {
    this.#version = version;
    for (const id of toolCallIds) this.#tools.set(id, { state: "ready" });
  }

  /** Message of the open step. */
  get step(): string | null {
    return this.#step;
  }

  /** True when the open step has words, a file or a complete tool call. */
  get saysSomething(): boolean {
    return this.#saysSomething;
  }

  hasTool(toolCallId: string): boolean {
    return this.#tools.has(toolCallId);
  }

  /** Returns what was written since it was last asked. */
  take(): readonly UiChunk[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** Writes a chunk as it is. */
  add(chunk: UiChunk): void {
    this.#out.push(chunk);
  }

  /** Writes a chunk between the blocks of a step. */
  addBetween(chunk: UiChunk): void {
    this.#endBlock();
    this.add(chunk);
  }

  /** Notes that the open step has all that the model says in it. */
  complete(): void {
    if (this.#step !== null) this.#complete.add(this.#step);
  }

  isComplete(messageId: string): boolean {
    return this.#complete.has(messageId);
  }

  /** Notes that every step that is complete is saved. */
  saved(): void {
    for (const messageId of this.#unsaved)
      if (this.#complete.has(messageId)) this.#unsaved.delete(messageId);
  }

  /**
   * Takes back the steps behind the last one that counts, which a run that goes on begins again.
   *
   * @returns their messages
   */
  keep(counts: (messageId: string) => boolean): readonly string[] {
    const steps = [...this.#unsaved];
    const lost = steps.slice(steps.findLastIndex(counts) + 1);
    if (lost.length > 0) this.discard(lost.length);
    this.#unsaved.clear();
    return lost;
  }

  delta(kind: "text" | "reasoning", event: EventOf<"text_delta" | "thinking_delta">): void {
    this.#enterStep(event.messageId);
    if (this.#block?.of !== event.blockId || this.#block.kind !== kind) {
      this.#endBlock();
      const id = blockId(event.messageId, ++this.#blocks);
      this.#block = { kind, id, of: event.blockId };
      this.add({ type: `${kind}-start`, id });
    }
    this.#saysSomething ||= kind === "text" && event.text.trim() !== "";
    this.add({ type: `${kind}-delta`, id: this.#block.id, delta: event.text });
  }

  file(event: EventOf<"data">): void {
    this.#enterStep(event.messageId);
    this.#saysSomething = true;
    this.addBetween({ type: "file", mediaType: event.mediaType, url: urlOf(event) });
  }

  startTool({ toolCallId, name, messageId }: EventOf<"tool_call_start">): void {
    this.#enterStep(messageId);
    this.#startTool(toolCallId, name);
  }

  toolDelta({ toolCallId, inputDelta }: EventOf<"tool_call_delta">): void {
    if (this.#tools.get(toolCallId)?.state === "input")
      this.addBetween({ type: "tool-input-delta", toolCallId, inputTextDelta: inputDelta });
  }

  toolReady({ toolCallId, name, input }: EventOf<"tool_call_end">): void {
    // Its beginning may have been dropped.
    if (!this.#tools.has(toolCallId)) this.#startTool(toolCallId, name);
    this.#tools.set(toolCallId, { name, step: this.#step, state: "ready" });
    this.#saysSomething = true;
    const type = "tool-input-available";
    this.addBetween({ type, toolCallId, toolName: name, input, dynamic: true });
  }

  /** Tells a client which had a call approved that it waits now: else it takes the call for answered, and sends the answer again. */
  toolSuspended({ toolCallId, name: toolName, input }: PendingCall): void {
    const tool = this.#tools.get(toolCallId);
    if (tool && tool.name === undefined)
      this.addBetween({ type: "tool-input-available", toolCallId, toolName, input, dynamic: true });
  }

  toolResult({ toolCallId, state, output }: EventOf<"tool_result">): void {
    const tool = this.#tools.get(toolCallId);
    // A call of an earlier turn, which the session closes: it is part of another message.
    if (!tool) return;
    tool.state = "done";
    if (state === "success")
      this.addBetween({
        type: "tool-output-available",
        toolCallId,
        output: outputValue(output),
        dynamic: true,
      });
    else if (state === "denied" && this.#version >= 6)
      this.addBetween({ type: "tool-output-denied", toolCallId });
    else
      this.addBetween({
        type: "tool-output-error",
        toolCallId,
        errorText: outputText(output),
        dynamic: true,
      });
  }

  /** Takes back the last steps, the open one included. */
  discard(steps: number): void {
    const lost = new Set([...this.#unsaved].slice(-steps));
    for (const messageId of lost) this.#unsaved.delete(messageId);
    const tools = [...this.#tools].filter(([, { step }]) => lost.has(step ?? ""));
    if (this.#version === 7 && steps === 1 && this.#step !== null) {
      this.add({ type: "reset-step" });
      this.#block = null;
      for (const [id, { state }] of tools) if (state !== "done") this.#tools.delete(id);
    } else {
      this.#endBlock();
      for (const [toolCallId, tool] of tools) this.#endTool(toolCallId, tool);
      this.add({ type: "data-discarded", data: { steps } });
    }
    this.endStep();
  }

  endStep(): void {
    this.#endBlock();
    for (const [toolCallId, tool] of this.#tools)
      if (tool.state === "input") this.#endTool(toolCallId, tool);
    if (this.#step !== null) this.add({ type: "finish-step" });
    this.#step = null;
  }

  #enterStep(messageId: string): void {
    if (this.#step === messageId) return;
    this.endStep();
    this.add({ type: "start-step" });
    this.#step = messageId;
    this.#blocks = 0;
    this.#saysSomething = false;
    this.#unsaved.add(messageId);
  }

  #endBlock(): void {
    if (this.#block) this.add({ type: `${this.#block.kind}-end`, id: this.#block.id });
    this.#block = null;
  }

  #startTool(toolCallId: string, name: string): void {
    this.#tools.set(toolCallId, { name, step: this.#step, state: "input" });
    this.addBetween({ type: "tool-input-start", toolCallId, toolName: name, dynamic: true });
  }

  /** Ends a call of this run that will not have a result. */
  #endTool(toolCallId: string, tool: StreamedTool): void {
    const { name: toolName, state } = tool;
    if (toolName === undefined || state === "done") return;
    tool.state = "done";
    const errorText = "Not run: this part of the reply does not count.";
    if (state === "ready")
      this.add({ type: "tool-output-error", toolCallId, errorText, dynamic: true });
    else
      this.add({
        ...{ type: "tool-input-error", toolCallId, toolName, input: {}, errorText, dynamic: true },
      });
  }
}
