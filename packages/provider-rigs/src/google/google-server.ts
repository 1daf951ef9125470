import { OpaqueTokens } from "../opaque-tokens.js";
import type { WireProtocol } from "../wire-protocol.js";
import {
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from "../wire-server.js";
import { googleAnswer } from "./google-answer.js";
import { googleError } from "./google-errors.js";
import { googleRefusal } from "./google-request.js";

/**
 * Starts a server that speaks Google's Gemini API.
 *
 * Thinking puts a thought signature on the first tool call, or at the end of the text.
 *
 * @example
 * await using server = await googleServer([{ text: "Hello." }]);
 * const provider = createGoogleGenerativeAI({ baseURL: server.url, apiKey: "test" });
 */
export function googleServer(script: WireScript, options?: WireServerOptions): Promise<WireServer> {
  return wireServer(googleProtocol(), script, options);
}

function googleProtocol(): WireProtocol {
  const opaqueTokens = new OpaqueTokens("google");
  return {
    basePath: "/v1beta",
    newline: "\r\n",
    serves: (path) =>
      /^\/v1beta\/models\/[^/:]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(path),
    streams: ({ path }) => path.includes(":streamGenerateContent"),
    refusal: (request) => googleRefusal(request, opaqueTokens),
    overflow: (tokens, window) =>
      googleError(
        400,
        "INVALID_ARGUMENT",
        `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
      ),
    invalid: (message) => googleError(400, "INVALID_ARGUMENT", message),
    errorEvent: (body) => ({
      data:
        body ??
        googleError(503, "UNAVAILABLE", "The model is overloaded. Please try again later.").body,
    }),
    answer: (reply, request, chars) => googleAnswer(reply, request, chars, opaqueTokens),
  };
}
