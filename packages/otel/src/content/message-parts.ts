import type { Block, DataBlock, JsonValue } from "@holdfast/core";
import { clip, clippedJson } from "./clip.js";

/** A part of a message as the conventions have it. */
export type MessagePart = { readonly type: string } & { readonly [key: string]: JsonValue };

/** A block of a message in the form of the conventions; texts are clipped and bytes left out. */
export function messagePart(block: Block, maxChars: number): MessagePart {
  switch (block.type) {
    case "text":
    case "hint":
      return { type: "text", content: clip(block.text, maxChars) };
    case "thinking":
      return { type: "reasoning", content: clip(block.text, maxChars) };
    case "tool_call":
      return {
        type: "tool_call",
        id: block.id,
        name: block.name,
        arguments: JSON.parse(clippedJson(block.input, maxChars)) as JsonValue,
      };
    case "tool_result":
      return {
        type: "tool_call_response",
        id: block.toolCallId,
        response: block.output.map((part) => ({ ...messagePart(part, maxChars) })),
      };
    case "data":
      return dataPart(block, maxChars);
  }
}

function dataPart({ mediaType, source }: DataBlock, maxChars: number): MessagePart {
  const kind = { mime_type: mediaType, modality: mediaType.split("/")[0] as string };
  return source.kind === "url"
    ? { type: "uri", ...kind, uri: clip(source.url, maxChars) }
    : { type: "file", ...kind, base64_chars: source.data.length };
}
