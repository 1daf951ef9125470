import type { Block, ModelChunk } from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import { messagesJson } from "./messages-json.js";

/** Collects the reply of a model for the span. */
export class OutputDraft {
  readonly #maxChars: number;
  readonly #blocks: Block[] = [];

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  add(chunk: ModelChunk): void {
    switch (chunk.type) {
      case "text_delta":
        this.#append("text", chunk.text);
        break;
      case "thinking_delta":
        this.#append("thinking", chunk.text);
        break;
      case "tool_call": {
        const { id, name, input } = chunk;
        this.#blocks.push({ type: "tool_call", id, name, input });
        break;
      }
      case "data": {
        const { mediaType, source } = chunk;
        this.#blocks.push({ type: "data", mediaType, source });
        break;
      }
    }
  }

  toJson(finishReason: string | undefined): string {
    return messagesJson(
      [createMessage("assistant", this.#blocks)],
      this.#maxChars,
      finishReason ?? "",
    );
  }

  #append(type: "text" | "thinking", text: string): void {
    if (text === "") return;
    const last = this.#blocks.at(-1);
    if (last?.type !== type) this.#blocks.push({ type, text });
    else this.#blocks[this.#blocks.length - 1] = { type, text: last.text + text };
  }
}
