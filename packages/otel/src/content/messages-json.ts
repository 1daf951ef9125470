import type {
  Block,
  DataBlock,
  JsonValue,
  Message,
  ModelRequest,
  ToolResultBlock,
} from "@holdfast/core";
import type { Attributes } from "@opentelemetry/api";
import { attribute } from "../names.js";
import { clip, clipForJson, clippedJson } from "./clip.js";

/** Characters of the JSON around a system prompt. */
const SYSTEM_FRAME = 32;

/** Returns the contents of a request as attributes of at most `maxChars` each. */
export function requestContent(request: ModelRequest, maxChars: number): Attributes {
  const { system, messages, tools } = request;
  return {
    [attribute.inputMessages]: messagesJson(messages, maxChars),
    ...(system !== "" && {
      [attribute.system]: JSON.stringify([
        { type: "text", content: clipForJson(system, maxChars - SYSTEM_FRAME) },
      ]),
    }),
    ...(tools.length > 0 && {
      [attribute.toolDefinitions]: clippedJson(
        tools.map(({ name, description }) => ({ type: "function", name, description })),
        maxChars,
      ),
    }),
  };
}

/**
 * Returns messages in the form of `gen_ai.input.messages` and `gen_ai.output.messages`, in at most `maxChars`: the newest
 * that fit, each of their texts at most a quarter of it.
 */
export function messagesJson(
  messages: readonly Message[],
  maxChars: number,
  finishReason?: string,
): string {
  const shown: string[] = [];
  let room = maxChars - 2;
  for (const message of messages.toReversed()) {
    const parts = message.content.map((block) => messagePart(block, Math.floor(maxChars / 4)));
    const finish = finishReason === undefined ? {} : { finish_reason: finishReason };
    let json = JSON.stringify({ role: message.role, parts, ...finish });
    if (json.length > room && shown.length === 0) {
      // The beginning of the newest message is better than nothing.
      const text = JSON.parse(clippedJson(parts, Math.floor(room / 2))) as unknown;
      const part = { type: "text", content: text };
      json = JSON.stringify({ role: message.role, parts: [part], ...finish });
    }
    room -= json.length + 1;
    if (room < 0) break;
    shown.push(json);
  }
  return `[${shown.toReversed().join(",")}]`;
}

/** Returns the output of a tool as JSON of at most `maxChars`. */
export function outputJson({ output }: ToolResultBlock, maxChars: number): string {
  return clippedJson(
    output.map((part) => messagePart(part, Math.floor(maxChars / 2))),
    maxChars,
  );
}

/** Part of a message in the form of the conventions. */
type MessagePart = { readonly type: string } & { readonly [key: string]: JsonValue };

/** Converts a block to the form of the conventions; clips texts and leaves bytes out. */
function messagePart(block: Block, maxChars: number): MessagePart {
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
