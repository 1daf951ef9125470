import type { ModelRequest } from "@holdfast/core";
import type { Attributes } from "@opentelemetry/api";
import { attribute } from "../names.js";
import { clipForJson, clippedJson } from "./clip.js";
import { messagesJson } from "./messages-json.js";

/** Characters of the JSON around a system prompt. */
const SYSTEM_FRAME = 32;

/** What a model is sent, as attributes of at most `maxChars` each. */
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
