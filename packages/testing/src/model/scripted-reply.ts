import type { FinishReason, JsonValue, ModelRequest, Usage } from "@holdfast/core";

/** A tool call a {@link ScriptedReply} makes. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly input: JsonValue;
  /** @default "call_0", "call_1", …, starting over in every reply as some providers do */
  readonly id?: string | undefined;
}

/** One reply of a scripted model; a string is its text. */
export type ScriptedReply =
  | string
  | {
      readonly text?: string | undefined;
      /** Streamed before the text. */
      readonly thinking?: string | undefined;
      readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
      /** Thrown after everything above was streamed, so alone it fails before the first chunk. */
      readonly error?: Error | undefined;
      /** Wait before the first chunk. @default 0 */
      readonly delayMs?: number | undefined;
      /** @default a quarter of the characters that went in and out */
      readonly usage?: Usage | undefined;
      /** Characters per delta. @default a third of the text */
      readonly chunkSize?: number | undefined;
      /** @default "tool_calls" when there are any, else "stop" */
      readonly finish?: FinishReason | undefined;
    };

/** Decides a reply by the request; `index` counts the requests from 0. */
export type ReplyFunction = (
  request: ModelRequest,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>;

/** Tokens as a quarter of the characters, so that the same run always reports the same usage. */
export function scriptedUsage(
  request: Pick<ModelRequest, "system" | "messages" | "tools">,
  reply: Exclude<ScriptedReply, string>,
): Usage {
  let sent = request.system.length + JSON.stringify(request.tools).length;
  for (const message of request.messages) sent += JSON.stringify(message.content).length;
  const calls = reply.toolCalls ?? [];
  const received =
    (reply.text ?? "").length +
    (reply.thinking ?? "").length +
    calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.input).length, 0);
  return { inputTokens: Math.ceil(sent / 4), outputTokens: Math.ceil(received / 4) };
}

/** `text` in pieces of `size` characters, never splitting a surrogate pair. */
export function* pieces(text: string, size: number | undefined): Generator<string> {
  const characters = Array.from(text);
  const step = Math.max(1, size ?? Math.ceil(characters.length / 3));
  for (let start = 0; start < characters.length; start += step)
    yield characters.slice(start, start + step).join("");
}
