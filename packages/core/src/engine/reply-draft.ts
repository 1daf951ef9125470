import type { JsonObject } from "../json/json.js";
import { createMessage } from "../message/create-message.js";
import type { Block, Message, Usage } from "../message/message.js";
import type { FinishReason, ModelChunk } from "../ports/model.js";
import { uuidv7 } from "../slot/uuid.js";

/** An assistant message while it is being streamed. */
export class ReplyDraft {
  readonly #blocks: Block[] = [];
  readonly #providerCallIds: Record<string, string> = {};
  #text = "";
  #thinking = "";
  #thinkingMetadata: JsonObject | undefined;
  finish: { readonly reason: FinishReason; readonly usage: Usage } | null = null;
  /** Whether the model has begun to answer, be it by thinking. */
  began = false;

  /** Ids given to calls whose arguments are still being written, by the provider's id. */
  readonly #announced = new Map<string, string>();

  /** The id of a call that is being written; `isNew` the first time. */
  announce(providerId: string): { readonly id: string; readonly isNew: boolean } {
    const known = this.#announced.get(providerId);
    if (known !== undefined) return { id: known, isNew: false };
    // Providers reuse ids such as call_0; within a session ours never repeat.
    const id = uuidv7();
    this.#announced.set(providerId, id);
    return { id, isNew: true };
  }

  /** Takes a chunk in. */
  add(chunk: ModelChunk): void {
    this.began ||= chunk.type !== "finish" && !("text" in chunk && chunk.text === "");
    switch (chunk.type) {
      case "text_delta":
        this.#closeThinking();
        this.#text += chunk.text;
        return;
      case "thinking_delta":
        this.#closeText();
        this.#thinking += chunk.text;
        if (chunk.providerMetadata) this.#thinkingMetadata = chunk.providerMetadata;
        return;
      case "tool_call": {
        this.#closeThinking();
        this.#closeText();
        const { id } = this.announce(chunk.id);
        this.#announced.delete(chunk.id);
        this.#providerCallIds[id] = chunk.id;
        this.#blocks.push({
          type: "tool_call",
          id,
          name: chunk.name,
          input: chunk.input,
          providerMetadata: chunk.providerMetadata,
        });
        return;
      }
      case "finish":
        this.finish = { reason: chunk.reason, usage: chunk.usage };
        return;
    }
  }

  /** Whether there is nothing a reader or a tool could use: thinking alone is not an answer. */
  isEmpty(): boolean {
    return (
      this.#text.trim() === "" &&
      this.#blocks.every(
        (block) =>
          block.type !== "tool_call" && !(block.type === "text" && block.text.trim() !== ""),
      )
    );
  }

  message(createdAt: Date): Message {
    this.#closeThinking();
    this.#closeText();
    const ids = this.#providerCallIds;
    return createMessage("assistant", this.#blocks, {
      createdAt,
      usage: this.finish?.usage,
      metadata: Object.keys(ids).length > 0 ? { providerCallIds: ids } : undefined,
    });
  }

  #closeText(): void {
    if (this.#text !== "") this.#blocks.push({ type: "text", text: this.#text });
    this.#text = "";
  }

  #closeThinking(): void {
    if (this.#thinking !== "" || this.#thinkingMetadata)
      this.#blocks.push({
        type: "thinking",
        text: this.#thinking,
        providerMetadata: this.#thinkingMetadata,
      });
    this.#thinking = "";
    this.#thinkingMetadata = undefined;
  }
}
