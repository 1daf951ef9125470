import { Refusal } from "../refusal.js";
import type { WireFailure } from "../wire-reply.js";

/** An error in Google's shape. */
export function googleError(
  code: number,
  status: string,
  message: string,
  details?: readonly object[],
): WireFailure {
  return {
    status: code,
    body: { error: { code, message, status, ...(details !== undefined && { details }) } },
  };
}

/** Ends a check of a request with a 400. */
export function refuse(message: string): never {
  throw new Refusal(googleError(400, "INVALID_ARGUMENT", message));
}
