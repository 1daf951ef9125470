import type { Json } from "../json.js";
import { wireId } from "../wire-id.js";

/**
 * How a stream of the Responses API tells an error:
 * - `nested`: an `error` event with the error inside, as the service sends it today;
 * - `flat`: an `error` event that is the error, as its documentation has it;
 * - `failed`: a `response.failed` event, whose response has the error.
 */
export type OpenAiStreamErrorForm = "nested" | "flat" | "failed";

/** An error as an event of the Responses API. */
export function openAiStreamError(form: OpenAiStreamErrorForm, error: Json): Json {
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
