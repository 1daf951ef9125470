import type { WireProtocol } from "../wire-protocol.js";
import {
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from "../wire-server.js";
import { chatAnswer } from "./chat-answer.js";
import { chatRefusal } from "./chat-request.js";
import { openAiError } from "./openai-errors.js";

/**
 * Starts a server that speaks OpenAI's Chat Completions API, and as much of what compatible servers add to it as they
 * share: thinking is sent as `reasoning_content`.
 *
 * @example
 * await using server = await openAiChatServer([{ text: "Hello." }]);
 * const model = createOpenAI({ baseURL: server.url, apiKey: "test" }).chat("gpt-4o");
 */
export function openAiChatServer(
  script: WireScript,
  options?: WireServerOptions,
): Promise<WireServer> {
  return wireServer(chatProtocol, script, options);
}

const chatProtocol: WireProtocol = {
  basePath: "/v1",
  serves: (path) => path === "/v1/chat/completions",
  streams: ({ body }) => body?.stream === true,
  refusal: chatRefusal,
  overflow: (tokens, window) =>
    openAiError(
      400,
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      { param: "messages", code: "context_length_exceeded" },
    ),
  invalid: (message) => openAiError(400, message),
  errorEvent: (body) => ({
    data:
      body ??
      openAiError(500, "The server had an error while processing your request. Sorry about that!", {
        type: "server_error",
      }).body,
  }),
  answer: chatAnswer,
};
