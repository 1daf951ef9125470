import type { Json } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { wireId } from "../wire-id.js";
import type { WireAnswer, WireEvent, WireRequest } from "../wire-protocol.js";
import {
  type FullUsage,
  finishOf,
  textDeltas,
  usageOf,
  type WireFinish,
  type WireReply,
} from "../wire-reply.js";

const stopReasons: Readonly<Record<WireFinish, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  refusal: "refusal",
  context_window: "model_context_window_exceeded",
};

/** A block of the message: how it begins, what is added to it, and what it is in the end. */
interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
  readonly whole: object;
}

/** A reply as a message of the Messages API. */
export function anthropicAnswer(
  reply: WireReply,
  request: WireRequest,
  requestChars: number,
  opaqueTokens: OpaqueTokens,
): WireAnswer {
  if (reply.files?.length) throw new Error("a message of Anthropic has no files");
  const usage = usageOf(reply, requestChars);
  const blocks = blocksOf(reply, opaqueTokens);
  const message = {
    id: wireId("msg_"),
    type: "message",
    role: "assistant",
    model: request.body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageBody(usage, 1),
  };
  const ended = { stop_reason: stopReasons[finishOf(reply)], stop_sequence: null };
  const total = usageBody(usage, usage.output);
  return {
    events: [
      { ...event({ type: "message_start", message }), kind: "opening" },
      ...blocks.flatMap(blockEvents),
      event({ type: "message_delta", delta: ended, usage: total }),
      event({ type: "message_stop" }),
    ],
    body: { ...message, ...ended, content: blocks.map(({ whole }) => whole), usage: total },
  };
}

function usageBody(usage: FullUsage, output: number): object {
  return {
    // Anthropic counts cached tokens apart.
    input_tokens: usage.input - usage.cachedInput,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedInput,
    output_tokens: output,
  };
}

function blocksOf(reply: WireReply, opaqueTokens: OpaqueTokens): Block[] {
  const blocks: Block[] = [];
  const { thinking } = reply;
  if (thinking !== undefined) {
    const { text } = thinking;
    const signature = opaqueTokens.issue(text, thinking.signature);
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...(text === "" ? [] : [{ type: "thinking_delta", thinking: text }]),
        { type: "signature_delta", signature },
      ],
      whole: { type: "thinking", thinking: text, signature },
    });
    if (thinking.redacted !== undefined) {
      const data = opaqueTokens.issue("", thinking.redacted);
      const block = { type: "redacted_thinking", data };
      blocks.push({ start: block, deltas: [], whole: block });
    }
  }
  const texts = textDeltas(reply);
  if (texts.length > 0)
    blocks.push({
      start: { type: "text", text: "" },
      deltas: texts.map((text) => ({ type: "text_delta", text })),
      whole: { type: "text", text: texts.join("") },
    });
  for (const { name, input, id = wireId("toolu_") } of reply.toolCalls ?? [])
    blocks.push({
      start: { type: "tool_use", id, name, input: {} },
      deltas: ["", JSON.stringify(input)].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
      whole: { type: "tool_use", id, name, input },
    });
  return blocks;
}

function blockEvents({ start, deltas }: Block, index: number): WireEvent[] {
  return [
    event({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta): WireEvent => {
      const said = event({ type: "content_block_delta", index, delta });
      return isContent(delta) ? { ...said, kind: "delta" } : said;
    }),
    event({ type: "content_block_stop", index }),
  ];
}

/** A signature and an empty piece of JSON say nothing of their own, so that a fault may be put around them. */
function isContent(delta: object): boolean {
  return !("signature" in delta || ("partial_json" in delta && delta.partial_json === ""));
}

function event(data: Json & { readonly type: string }): WireEvent {
  return { name: data.type, data };
}
