import type { JsonObject } from "../../json/json.js";
import { createMessage } from "../../message/create-message.js";
import type { Block, DataBlock, Message, ToolCallBlock, Usage } from "../../message/message.js";
import type { DeltaChunk, FinishReason, ModelChunk } from "../../ports/model.js";
import { uuidv7 } from "../../slot/uuid.js";

/** A text or a thought while it is being written. */
interface GrowingBlock {
  readonly type: "text" | "thinking";
  /** The model's own name for it, where it has one. */
  readonly name: string | undefined;
  text: string;
  providerMetadata: JsonObject | undefined;
}

type DraftBlock = GrowingBlock | DataBlock | ToolCallBlock;

/** Size of what a request has streamed so far, as the event `attempt_discarded` has it. */
export interface Streamed {
  readonly textChars: number;
  readonly thinkingChars: number;
  readonly files: number;
  readonly toolCallIds: readonly string[];
}

/** An assistant message while it is being streamed. */
export class ReplyDraft {
  readonly #blocks: DraftBlock[] = [];
  readonly #providerCallIds: Record<string, string> = {};
  finish: { readonly reason: FinishReason; readonly usage: Usage } | null = null;
  /** Id of the request, once it was sent. */
  requestId: string | null = null;
  readonly attempt: number;
  /** Id of the message that it becomes. */
  readonly messageId: string = uuidv7();
  /** True once the model has begun to answer, be it by thinking. */
  began = false;

  /** Ids given to calls whose arguments are still being written, by the provider's id. */
  readonly #announced = new Map<string, string>();

  /** Ids of all calls that were announced, complete or not. */
  readonly toolCallIds: string[] = [];

  /** Block of the last piece that was told as an event; null behind anything else. */
  #told: string | null = null;
  #toldBlocks = 0;

  constructor(attempt: number) {
    this.attempt = attempt;
  }

  /** The id of a call that is being written; `isNew` the first time. */
  announce(providerId: string): { readonly id: string; readonly isNew: boolean } {
    this.#told = null;
    const known = this.#announced.get(providerId);
    if (known !== undefined) return { id: known, isNew: false };
    // Providers reuse ids such as call_0; within a session ours never repeat.
    const id = uuidv7();
    this.#announced.set(providerId, id);
    this.toolCallIds.push(id);
    return { id, isNew: true };
  }

  /** Returns the id of a piece's block in events. There the pieces of a block come in a row: one that is taken up again has a new id. */
  blockId({ type, block }: DeltaChunk): string {
    const name = `${type} ${block ?? ""}`;
    if (this.#told !== name) this.#toldBlocks++;
    this.#told = name;
    return blockId(this.messageId, this.#toldBlocks);
  }

  /** Takes a chunk in. */
  add(chunk: ModelChunk): void {
    this.began ||= chunk.type !== "finish" && !("text" in chunk && chunk.text === "");
    switch (chunk.type) {
      case "text_delta":
      case "thinking_delta":
        this.#grow(chunk);
        return;
      case "data": {
        const { mediaType, source, name, providerMetadata } = chunk;
        this.#told = null;
        this.#blocks.push({
          type: "data",
          mediaType,
          source,
          ...(name !== undefined && { name }),
          ...(providerMetadata && { providerMetadata }),
        });
        return;
      }
      case "tool_call": {
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

  /** Returns whether there is nothing a reader or a tool could use: thinking alone is not an answer. */
  isEmpty(): boolean {
    return this.#blocks.every(
      (block) => block.type === "thinking" || (block.type === "text" && block.text.trim() === ""),
    );
  }

  /** Returns the size of what was streamed; null when there was nothing. */
  streamed(): Streamed | null {
    if (!this.began) return null;
    return {
      textChars: this.#chars("text"),
      thinkingChars: this.#chars("thinking"),
      files: this.#blocks.filter(({ type }) => type === "data").length,
      toolCallIds: [...this.toolCallIds],
    };
  }

  #chars(type: GrowingBlock["type"]): number {
    return this.#blocks.reduce(
      (sum, block) => (block.type === type && "text" in block ? sum + block.text.length : sum),
      0,
    );
  }

  message(createdAt: Date): Message {
    const ids = this.#providerCallIds;
    const content = this.#blocks
      .filter((block) => !("text" in block) || block.text !== "" || block.providerMetadata)
      .map((block) => ("text" in block ? finished(block) : block));
    return createMessage("assistant", content, {
      id: this.messageId,
      createdAt,
      usage: this.finish?.usage,
      metadata: Object.keys(ids).length > 0 ? { providerCallIds: ids } : undefined,
    });
  }

  /** Returns the part of the reply that people read: no tool calls, and no thinking. */
  words(createdAt: Date): Message {
    const { content } = this.message(createdAt);
    const words = content.filter(({ type }) => type === "text" || type === "data");
    return createMessage("assistant", words, { id: this.messageId, createdAt });
  }

  #grow({ type: chunkType, text, block: name, providerMetadata }: DeltaChunk): void {
    const type = chunkType === "text_delta" ? "text" : "thinking";
    let block = this.#openBlock(type, name);
    if (!block) {
      block = { type, name, text: "", providerMetadata: undefined };
      this.#blocks.push(block);
    }
    block.text += text;
    if (providerMetadata) block.providerMetadata = providerMetadata;
  }

  /** The block a piece belongs to: the one of its name, wherever it is, or the last one when it has no name. */
  #openBlock(type: GrowingBlock["type"], name: string | undefined): GrowingBlock | undefined {
    const isIt = (block: DraftBlock): block is GrowingBlock =>
      block.type === type && "text" in block && block.name === name;
    if (name !== undefined) return this.#blocks.findLast(isIt);
    const last = this.#blocks.at(-1);
    return last && isIt(last) ? last : undefined;
  }
}

/** Returns the id of a block of a message in events, by its number. */
export function blockId(messageId: string, number: number): string {
  return `${messageId}.${number}`;
}

function finished({ type, text, providerMetadata }: GrowingBlock): Block {
  return providerMetadata ? { type, text, providerMetadata } : { type, text };
}
