import { Refusal } from "../refusal.js";
import { wireId } from "../wire-id.js";
import type { WireFailure } from "../wire-reply.js";

/** Fields of an OpenAI error beside its message. */
export interface OpenAiErrorFields {
  readonly type?: string | undefined;
  readonly param?: string | undefined;
  readonly code?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An error in OpenAI's shape. */
export function openAiError(
  status: number,
  message: string,
  { type = "invalid_request_error", param, code, headers }: OpenAiErrorFields = {},
): WireFailure {
  return {
    status,
    body: { error: { message, type, param: param ?? null, code: code ?? null } },
    headers: { "x-request-id": wireId("req_"), ...headers },
  };
}

/** Ends a check of a request with a 400. */
export function refuse(message: string, param?: string, code?: string): never {
  throw new Refusal(openAiError(400, message, { param, code }));
}

/** Refuses a request without a key. */
export function checkKey(headers: Readonly<Record<string, string>>): void {
  if (!/^Bearer \S/.test(headers["authorization"] ?? ""))
    throw new Refusal(
      openAiError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
      ),
    );
}
