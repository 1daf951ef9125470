import type { Json } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { wireId } from "../wire-id.js";
import type { WireEvent } from "../wire-protocol.js";
import {
  finishOf,
  textDeltas,
  type WireReply,
  type WireThinking,
  type WireToolCall,
} from "../wire-reply.js";

/** An item of a response, and the events that bring it. */
export interface ResponsesItem {
  readonly item: Json;
  readonly events: readonly WireEvent[];
}

/** The items of a reply. */
export function responsesItems(
  reply: WireReply,
  body: Json,
  opaqueTokens: OpaqueTokens,
): ResponsesItem[] {
  const items: ResponsesItem[] = [];
  if (reply.thinking !== undefined) items.push(reasoningItem(reply.thinking, body, opaqueTokens));
  for (const { base64 } of reply.files ?? []) items.push(imageItem(base64));
  const texts = textDeltas(reply);
  if (texts.length > 0) items.push(messageItem(texts, finishOf(reply) === "refusal"));
  for (const call of reply.toolCalls ?? []) items.push(functionCallItem(call));
  return items;
}

function reasoningItem(
  { text, encrypted }: WireThinking,
  body: Json,
  opaqueTokens: OpaqueTokens,
): ResponsesItem {
  const id = wireId("rs_");
  const include: unknown = body["include"];
  const includesEncrypted =
    Array.isArray(include) && include.includes("reasoning.encrypted_content");
  const token = opaqueTokens.issue(text, encrypted);
  const part = { type: "summary_text", text };
  const item = {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [part],
    ...(includesEncrypted && { encrypted_content: token }),
  };
  const at = { item_id: id, summary_index: 0 };
  return {
    item,
    events: [
      said("response.output_item.added", { item: { ...item, summary: [] } }),
      ...(text === ""
        ? []
        : [
            said("response.reasoning_summary_part.added", { ...at, part: { ...part, text: "" } }),
            delta("response.reasoning_summary_text.delta", { ...at, delta: text }),
            said("response.reasoning_summary_text.done", { ...at, text }),
            said("response.reasoning_summary_part.done", { ...at, part }),
          ]),
      said("response.output_item.done", { item }),
    ],
  };
}

function messageItem(texts: readonly string[], refuses: boolean): ResponsesItem {
  const id = wireId("msg_");
  const text = texts.join("");
  const kind = refuses ? "refusal" : "output_text";
  const part = refuses
    ? { type: "refusal", refusal: text }
    : { type: "output_text", annotations: [], logprobs: [], text };
  const item = { id, type: "message", status: "completed", content: [part], role: "assistant" };
  const at = { item_id: id, content_index: 0 };
  return {
    item,
    events: [
      said("response.output_item.added", { item: { ...item, status: "in_progress", content: [] } }),
      said("response.content_part.added", {
        ...at,
        part: { ...part, [refuses ? "refusal" : "text"]: "" },
      }),
      ...texts.map((piece) => delta(`response.${kind}.delta`, { ...at, delta: piece })),
      said(`response.${kind}.done`, { ...at, [refuses ? "refusal" : "text"]: text }),
      said("response.content_part.done", { ...at, part }),
      said("response.output_item.done", { item }),
    ],
  };
}

function functionCallItem({ name, input, id: callId }: WireToolCall): ResponsesItem {
  const id = wireId("fc_");
  const args = JSON.stringify(input);
  const item = {
    id,
    type: "function_call",
    status: "completed",
    arguments: args,
    call_id: callId ?? wireId("call_"),
    name,
  };
  return {
    item,
    events: [
      said("response.output_item.added", {
        item: { ...item, status: "in_progress", arguments: "" },
      }),
      delta("response.function_call_arguments.delta", { item_id: id, delta: args }),
      said("response.function_call_arguments.done", { item_id: id, arguments: args }),
      said("response.output_item.done", { item }),
    ],
  };
}

function imageItem(base64: string): ResponsesItem {
  const id = wireId("ig_");
  const item = { id, type: "image_generation_call", status: "completed", result: base64 };
  return {
    item,
    events: [
      said("response.output_item.added", {
        item: { ...item, status: "in_progress", result: null },
      }),
      said("response.output_item.done", { item }),
    ],
  };
}

function said(type: string, fields: object): WireEvent {
  return { data: { type, ...fields } };
}

function delta(type: string, fields: object): WireEvent {
  return { ...said(type, fields), kind: "delta" };
}
