import { wireId } from "../wire-id.js";
import type { WireAnswer, WireEvent, WireRequest } from "../wire-protocol.js";
import { finishOf, textDeltas, usageOf, type WireFinish, type WireReply } from "../wire-reply.js";

const finishReasons: Readonly<Record<WireFinish, string>> = {
  stop: "stop",
  tool_calls: "tool_calls",
  length: "length",
  content_filter: "content_filter",
  refusal: "stop",
  context_window: "length",
};

/** A reply as a chat completion. */
export function chatAnswer(
  reply: WireReply,
  { body }: WireRequest,
  requestChars: number,
): WireAnswer {
  if (reply.files?.length) throw new Error("a chat completion has no files");
  const head = {
    id: wireId("chatcmpl-"),
    created: Math.floor(Date.now() / 1000),
    model: body.model,
    system_fingerprint: null,
  };
  const chunk = (fields: object): object => ({
    ...head,
    object: "chat.completion.chunk",
    ...fields,
  });
  const choice = (delta: object, finish_reason: string | null = null): WireEvent => ({
    data: chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] }),
  });
  const piece = (delta: object): WireEvent => ({ ...choice(delta), kind: "delta" });

  const text = finishOf(reply) === "refusal" ? "refusal" : "content";
  const texts = textDeltas(reply);
  const calls = (reply.toolCalls ?? []).map(({ id, name, input }) => ({
    id: id ?? wireId("call_"),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const thinking = reply.thinking?.text ?? "";
  const finish = finishReasons[finishOf(reply)];
  const usage = usageBody(reply, requestChars);
  const wantsUsage = body.stream_options?.include_usage === true;
  return {
    events: [
      { ...choice({ role: "assistant", content: "" }), kind: "opening" },
      ...(thinking === "" ? [] : [piece({ reasoning_content: thinking })]),
      ...texts.map((said) => piece({ [text]: said })),
      ...calls.flatMap((call, index) => [
        choice({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: "" } }] }),
        piece({ tool_calls: [{ index, function: { arguments: call.function.arguments } }] }),
      ]),
      choice({}, finish),
      ...(wantsUsage ? [{ data: chunk({ choices: [], usage }) }] : []),
      { data: "[DONE]" },
    ],
    body: {
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            refusal: null,
            ...(texts.length > 0 && { [text]: texts.join("") }),
            ...(thinking !== "" && { reasoning_content: thinking }),
            ...(calls.length > 0 && { tool_calls: calls }),
          },
          logprobs: null,
          finish_reason: finish,
        },
      ],
      usage,
    },
  };
}

function usageBody(reply: WireReply, requestChars: number): object {
  const { input, output, cachedInput, reasoning } = usageOf(reply, requestChars);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedInput },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
