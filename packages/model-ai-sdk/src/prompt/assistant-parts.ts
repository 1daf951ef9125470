import type { Block, JsonValue, Message, ThinkingBlock } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { metadataField, metadataFor, type PartMetadata } from "../provider-metadata.js";
import { fileData, mention, sendable } from "./data-part.js";
import type { AssistantPart } from "./prompt.js";
import { type PromptScope, toolNameIn } from "./prompt-scope.js";
import { wellFormedJson, wellFormedText } from "./well-formed-text.js";

/** Converts a reply of the model to parts of the prompt; empty if nothing of it can be sent. */
export function assistantParts(message: Message, scope: PromptScope): AssistantPart[] {
  const isKept = keptThinking(message, scope);
  const isWhole = message.content.every((block) => block.type !== "thinking" || isKept(block));
  const options = (block: Parameters<typeof metadataFor>[1], isThinking = false) => {
    const metadata = scope.omit.metadata ? undefined : metadataFor(scope.owner, block);
    if (metadata === undefined) return {};
    return { providerOptions: isWhole || isThinking ? metadata : withoutItemIds(metadata) };
  };
  const parts: AssistantPart[] = [];
  for (const block of message.content) {
    switch (block.type) {
      case "text":
        // Anthropic refuses blank text.
        if (block.text.trim() !== "")
          parts.push({ type: "text", text: wellFormedText(block.text), ...options(block) });
        break;
      case "hint":
        if (block.text.trim() !== "")
          parts.push({ type: "text", text: wellFormedText(block.text) });
        break;
      case "thinking":
        if (isKept(block))
          parts.push({
            type: "reasoning",
            text: wellFormedText(block.text),
            ...options(block, true),
          });
        break;
      case "data":
        parts.push(assistantData(block, scope, options(block)));
        break;
      case "tool_call":
        parts.push({
          type: "tool-call",
          toolCallId: scope.toolCallIds.get(block.id) ?? block.id,
          toolName: toolNameIn(scope, block.name),
          input: inputObject(block.input),
          ...options(block),
        });
    }
  }
  // A reply must not end with thinking, as one that was cut off does.
  while (parts.at(-1)?.type === "reasoning") parts.pop();
  return parts;
}

/**
 * Returns a function that tells which thinking is sent back: only that of this very model, and only in a form that its
 * provider accepts: signed at Anthropic, encrypted (or stored there) at OpenAI. A reply cut off while thinking has neither.
 */
function keptThinking(message: Message, scope: PromptScope): (block: ThinkingBlock) => boolean {
  if (scope.omit.metadata) return () => false;
  const own = (block: ThinkingBlock) => metadataFor(scope.owner, block);
  switch (scope.dialect) {
    case "anthropic":
    case "bedrock":
      return (block) =>
        metadataField(own(block), "signature") !== null ||
        metadataField(own(block), "redactedData") !== null;
    case "openai-responses": {
      const items = new Set<JsonValue>();
      for (const block of message.content) {
        if (block.type !== "thinking") continue;
        const sealed = metadataField(own(block), "reasoningEncryptedContent") !== null;
        // A reply without usage was cut off, and nothing of it was stored.
        const stored = scope.storesReplies && message.usage !== undefined;
        if (sealed || stored) items.add(metadataField(own(block), "itemId"));
      }
      items.delete(null);
      return (block) => items.has(metadataField(own(block), "itemId"));
    }
    default:
      return (block) =>
        own(block) !== undefined && (scope.dialect === "google" || block.text.trim() !== "");
  }
}

/** Removes item ids: OpenAI refuses an item by id if the reasoning that belongs to it is missing. */
function withoutItemIds(metadata: PartMetadata): PartMetadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([namespace, { itemId: _, ...fields }]) => [namespace, fields]),
  );
}

/** Converts a file that the model made: only Gemini accepts its own files, and its V2 package only PNG. */
function assistantData(
  block: Block & { type: "data" },
  scope: PromptScope,
  options: { readonly providerOptions?: PartMetadata },
): AssistantPart {
  const { mediaType } = block;
  const source = scope.dialect === "google" ? sendable(block, scope) : null;
  const isTaken = scope.version !== "v2" || mediaType === "image/png";
  if (source?.kind !== "base64" || !isTaken) return { type: "text", text: mention(block) };
  return { type: "file", mediaType, data: fileData(source, scope.version), ...options };
}

/** Wraps an input that is not an object, which providers refuse; what the model wrote stays readable. */
function inputObject(input: JsonValue): JsonValue {
  return wellFormedJson(isRecord(input) ? input : { input });
}
