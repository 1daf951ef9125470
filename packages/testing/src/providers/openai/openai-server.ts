import { isObject } from "../json.js";
import { Seals } from "../seals.js";
import type { WireProtocol } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import {
  type WireScript,
  type WireServer,
  type WireServerOptions,
  wireServer,
} from "../wire-server.js";
import { ItemStore } from "./item-store.js";
import { openAiError } from "./openai-errors.js";
import { type OpenAiStreamErrorForm, openAiStreamError } from "./openai-stream-error.js";
import { responsesAnswer } from "./responses-answer.js";
import { responsesRefusal } from "./responses-request.js";

/**
 * Starts a server that speaks OpenAI's Responses API.
 *
 * It keeps the items of answers that were delivered whole, unless the request said `store: false`, and knows them when
 * a later request refers to them.
 *
 * @example
 * await using server = await openAiServer([{ text: "Hello." }]);
 * const provider = createOpenAI({ baseURL: server.url, apiKey: "test" });
 */
export function openAiServer(script: WireScript, options?: WireServerOptions): Promise<WireServer> {
  return wireServer(responsesProtocol(), script, options);
}

function responsesProtocol(): WireProtocol {
  const seals = new Seals("openai");
  const items = new ItemStore();
  return {
    basePath: "/v1",
    serves: (path) => path === "/v1/responses",
    streams: ({ body }) => body?.stream === true,
    refusal: (request) => responsesRefusal(request, items, seals),
    overflow: (_tokens, _window, streams) =>
      streams ? openAiOverflowInStream.nested : openAiOverflow,
    invalid: (message) => openAiError(400, message),
    errorEvent: (body = openAiStreamError("nested", overloaded)) => ({
      name: isObject(body) ? String(body["type"] ?? "error") : "error",
      data: body,
    }),
    answer: (reply, request, chars) => responsesAnswer(reply, request, chars, { seals, items }),
  };
}

const tooLong = {
  type: "invalid_request_error",
  code: "context_length_exceeded",
  message:
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  param: "input",
};

/** A request over the window, as OpenAI answers it outside a stream. */
export const openAiOverflow: ReturnType<typeof openAiError> = openAiError(
  400,
  tooLong.message,
  tooLong,
);

/** A request over the window, as OpenAI answers it in a stream: the status is 200, and the first word an error. */
export const openAiOverflowInStream: Readonly<Record<OpenAiStreamErrorForm, WireFailure>> = {
  nested: { status: 200, body: openAiStreamError("nested", tooLong) },
  flat: { status: 200, body: openAiStreamError("flat", tooLong) },
  failed: { status: 200, body: openAiStreamError("failed", tooLong) },
};

const overloaded = {
  type: "server_error",
  code: "server_error",
  message:
    "The server had an error while processing your request. Sorry about that! You can retry your request.",
  param: null,
};
