import { assistantMessage, type Block, type Message, userMessage } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { Refusal } from "../http/refusal.js";

/** Body of `POST /v1/chat/completions`, as far as it counts here. */
export interface CompletionRequest {
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
  /** Words of the user: the last message. */
  readonly words: Message;
  /** Everything that was said, by the client's own account. */
  readonly messages: readonly Message[];
  /** Text of the system messages and of the last message, by which requests of the client's own are told. */
  readonly prompt: string;
}

const schema = s.object({
  model: s.string().optional(),
  stream: s.boolean().nullish(),
  stream_options: s.object({ include_usage: s.boolean().optional() }).nullish(),
  messages: s.array(s.object({ role: s.string(), content: s.unknown().optional() })).min(1),
});

const partSchema = s.array(s.looseObject({ type: s.string() }));
const imageSchema = s.object({ url: s.string() });

/** @throws Refusal 400 for a body that is not one of chat completions */
export function completionRequest(body: unknown): CompletionRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw malformed();
  const { model, stream, stream_options: options, messages } = parsed.data;
  const said = messages.flatMap(({ role, content }): Message[] => {
    if (role !== "user" && role !== "assistant") return [];
    const blocks = blocksOf(content ?? "");
    if (blocks.length === 0) return [];
    return [role === "user" ? userMessage(blocks) : assistantMessage(blocks)];
  });
  const words = said.at(-1);
  if (words?.role !== "user") throw malformed();
  return {
    model,
    isStreamed: stream === true,
    includesUsage: options?.include_usage === true,
    words,
    messages: said,
    prompt: messages
      .filter(({ role }, index) => role === "system" || index === messages.length - 1)
      .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
      .join("\n"),
  };
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const parts = partSchema.safeParse(content);
  if (!parts.success) throw malformed();
  return parts.data.flatMap((part): Block[] => {
    if (part.type === "text" && typeof part["text"] === "string" && part["text"] !== "")
      return [{ type: "text", text: part["text"] }];
    return part.type === "image_url" ? [imageOf(part["image_url"])] : [];
  });
}

function imageOf(image: unknown): Block {
  const parsed = imageSchema.safeParse(image);
  if (!parsed.success) throw malformed();
  const { url } = parsed.data;
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (type !== undefined && data !== undefined)
    return { type: "data", mediaType: type, source: { kind: "base64", data } };
  if (!/^https?:/i.test(url)) throw malformed();
  return { type: "data", mediaType: "image/*", source: { kind: "url", url } };
}

function malformed(): Refusal {
  return new Refusal(400, "invalid_request_error", "The request is not one of chat completions.");
}
