import type { Json } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { wireId } from "../wire-id.js";
import type { WireAnswer, WireEvent, WireRequest } from "../wire-protocol.js";
import { finishOf, usageOf, type WireReply } from "../wire-reply.js";
import type { ItemStore } from "./item-store.js";
import { responsesItems } from "./responses-items.js";

/** State that answers of the Responses API leave behind. */
export interface ResponsesMemory {
  readonly opaqueTokens: OpaqueTokens;
  readonly items: ItemStore;
}

/** A reply as a response of the Responses API. */
export function responsesAnswer(
  reply: WireReply,
  request: WireRequest,
  requestChars: number,
  { opaqueTokens, items }: ResponsesMemory,
): WireAnswer {
  const made = responsesItems(reply, request.body, opaqueTokens);
  const opened = {
    id: wireId("resp_"),
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: request.body.model,
    output: [],
    parallel_tool_calls: true,
    store: request.body.store !== false,
    tools: request.body.tools ?? [],
    usage: null,
  };
  const output = made.map(({ item }) => item);
  const response = {
    ...opened,
    ...ending(reply),
    output,
    usage: usageBody(reply, requestChars),
  };
  const events: WireEvent[] = [
    { data: { type: "response.created", response: opened }, kind: "opening" },
    { data: { type: "response.in_progress", response: opened }, kind: "opening" },
    ...made.flatMap(({ events: own }, index) => own.map((event) => withIndex(event, index))),
    { data: { type: `response.${response.status}`, response } },
  ];
  return {
    events: events.map(numbered),
    body: response,
    delivered: () => items.add(output, opened.store),
  };
}

/** Status fields of the response; a refusal is in its content instead. */
function ending(reply: WireReply): { status: string; incomplete_details: object | null } {
  const finish = finishOf(reply);
  if (finish === "content_filter")
    return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
  if (finish === "length" || finish === "context_window")
    return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  return { status: "completed", incomplete_details: null };
}

function usageBody(reply: WireReply, requestChars: number): object {
  const { input, output, cachedInput, reasoning } = usageOf(reply, requestChars);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function withIndex(event: WireEvent, index: number): WireEvent {
  return { ...event, data: { ...(event.data as Json), output_index: index } };
}

function numbered(event: WireEvent, index: number): WireEvent {
  const data = event.data as Json;
  return { ...event, name: String(data["type"]), data: { ...data, sequence_number: index } };
}
