import { Refusal } from "../refusal.js";
import { wireId } from "../wire-id.js";
import type { WireFailure } from "../wire-reply.js";

/** An error in Anthropic's shape. */
export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers?: Readonly<Record<string, string>>,
): WireFailure {
  const requestId = wireId("req_");
  return {
    status,
    body: { type: "error", error: { type, message }, request_id: requestId },
    headers: { "request-id": requestId, ...headers },
  };
}

/** Ends a check of a request with a 400. */
export function refuse(message: string): never {
  throw new Refusal(anthropicError(400, "invalid_request_error", message));
}
