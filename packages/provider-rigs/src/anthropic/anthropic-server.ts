import { OpaqueTokens } from "../opaque-tokens.js";
import type { WireProtocol } from "../wire-protocol.js";
import {
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from "../wire-server.js";
import { anthropicAnswer } from "./anthropic-answer.js";
import { anthropicError } from "./anthropic-errors.js";
import { anthropicRefusal } from "./anthropic-request.js";

/**
 * Starts a server that speaks Anthropic's Messages API.
 *
 * @example
 * await using server = await anthropicServer([{ text: "Hello." }]);
 * const provider = createAnthropic({ baseURL: server.url, apiKey: "test" });
 */
export function anthropicServer(
  script: WireScript,
  options?: WireServerOptions,
): Promise<WireServer> {
  return wireServer(anthropicProtocol(), script, options);
}

function anthropicProtocol(): WireProtocol {
  const opaqueTokens = new OpaqueTokens("anthropic");
  return {
    basePath: "/v1",
    serves: (path) => path === "/v1/messages",
    streams: ({ body }) => body?.stream === true,
    refusal: (request) => anthropicRefusal(request, opaqueTokens),
    overflow: (tokens, window) =>
      anthropicError(
        400,
        "invalid_request_error",
        `prompt is too long: ${tokens} tokens > ${window} maximum`,
      ),
    invalid: (message) => anthropicError(400, "invalid_request_error", message),
    errorEvent: (body) => ({
      name: "error",
      data: body ?? anthropicError(529, "overloaded_error", "Overloaded").body,
    }),
    answer: (reply, request, chars) => anthropicAnswer(reply, request, chars, opaqueTokens),
  };
}
