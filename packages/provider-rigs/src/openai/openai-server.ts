import { isObject, type Json } from "../json.js";
import { OpaqueTokens } from "../opaque-tokens.js";
import { wireId } from "../wire-id.js";
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
  const opaqueTokens = new OpaqueTokens("openai");
  const items = new ItemStore();
  return {
    basePath: "/v1",
    serves: (path) => path === "/v1/responses",
    streams: ({ body }) => body?.stream === true,
    refusal: (request) => responsesRefusal(request, items, opaqueTokens),
    overflow: (_tokens, _window, streams) =>
      streams ? openAiOverflowInStream.nested : openAiOverflow,
    invalid: (message) => openAiError(400, message),
    errorEvent: (body = openAiStreamError("nested", overloaded)) => ({
      name: isObject(body) ? String(body["type"] ?? "error") : "error",
      data: body,
    }),
    answer: (reply, request, chars) =>
      responsesAnswer(reply, request, chars, { opaqueTokens, items }),
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

/**
 * Form of an error in a stream of the Responses API:
 * - `nested`: an `error` event with the error inside, as the service sends it today;
 * - `flat`: an `error` event that is the error, as its documentation has it;
 * - `failed`: a `response.failed` event, whose response has the error.
 */
type OpenAiStreamErrorForm = "nested" | "flat" | "failed";

/** An error as an event of the Responses API. */
function openAiStreamError(form: OpenAiStreamErrorForm, error: Json): Json {
  const { code, message, param } = error;
  const sequence_number = 2;
  if (form === "nested") return { type: "error", sequence_number, error };
  if (form === "flat") return { type: "error", sequence_number, code, message, param };
  return {
    type: "response.failed",
    sequence_number,
    response: {
      id: wireId("resp_"),
      object: "response",
      created_at: Math.floor(Date.now() / 1000),
      status: "failed",
      error: { code, message },
      incomplete_details: null,
      output: [],
      usage: null,
    },
  };
}
