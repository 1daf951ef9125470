import type { OpaqueTokens } from "../opaque-tokens.js";
import { wireId } from "../wire-id.js";
import type { WireAnswer, WireEvent, WireRequest } from "../wire-protocol.js";
import { finishOf, textDeltas, usageOf, type WireFinish, type WireReply } from "../wire-reply.js";

const finishReasons: Readonly<Record<WireFinish, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  refusal: "PROHIBITED_CONTENT",
  context_window: "MAX_TOKENS",
};

/** A reply as a response of `generateContent`. */
export function googleAnswer(
  reply: WireReply,
  { path }: WireRequest,
  requestChars: number,
  opaqueTokens: OpaqueTokens,
): WireAnswer {
  const head = {
    modelVersion: /models\/([^:]+)/.exec(path)?.[1],
    responseId: wireId(""),
  };
  const parts = partsOf(reply, opaqueTokens);
  const usageMetadata = usageBody(reply, requestChars);
  const finishReason = finishReasons[finishOf(reply)];
  const body = (content: readonly object[], fields: object = {}): object => ({
    candidates: [{ content: { parts: content, role: "model" }, ...fields, index: 0 }],
    usageMetadata,
    ...head,
  });
  const events = parts.map((part): WireEvent => {
    const isEmpty = "text" in part && part.text === "";
    return { data: body([part]), kind: isEmpty ? undefined : "delta" };
  });
  return {
    events: [...events, { data: body([{ text: "" }], { finishReason }) }],
    body: body(merged(parts), { finishReason }),
  };
}

function partsOf(reply: WireReply, opaqueTokens: OpaqueTokens): object[] {
  const { thinking, toolCalls = [], files = [] } = reply;
  const parts: object[] = [];
  const signature =
    thinking === undefined ? undefined : opaqueTokens.issue(thinking.text, thinking.signature);
  if (thinking !== undefined && thinking.text !== "")
    parts.push({ text: thinking.text, thought: true });
  for (const { mediaType, base64 } of files)
    parts.push({ inlineData: { mimeType: mediaType, data: base64 } });
  for (const text of textDeltas(reply)) parts.push({ text });
  for (const [index, { name, input, id }] of toolCalls.entries())
    parts.push({
      functionCall: { ...(id !== undefined && { id }), name, args: input },
      // Parallel calls share the signature of the first.
      ...(signature !== undefined && index === 0 && { thoughtSignature: signature }),
    });
  if (signature !== undefined && toolCalls.length === 0)
    parts.push({ text: "", thoughtSignature: signature });
  return parts;
}

/** Outside a stream pieces of text are one part, and the signature is on it. */
function merged(parts: readonly object[]): object[] {
  const whole: { text?: string; thought?: boolean }[] = [];
  for (const part of parts as typeof whole) {
    const last = whole.at(-1);
    if (part.text === undefined || last?.text === undefined || last.thought !== part.thought)
      whole.push(part);
    else whole[whole.length - 1] = { ...last, ...part, text: last.text + part.text };
  }
  return whole;
}

function usageBody(reply: WireReply, requestChars: number): object {
  const { input, output, cachedInput, reasoning } = usageOf(reply, requestChars);
  return {
    promptTokenCount: input,
    // Google counts thoughts apart.
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(cachedInput > 0 && { cachedContentTokenCount: cachedInput }),
    totalTokenCount: input + output,
  };
}
