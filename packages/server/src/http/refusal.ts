import { HoldfastError } from "@holdfast/core";

/** Refusal of a request: an HTTP status, a stable code, and words for the person in front of the screen. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Status and words of an error. */
interface Words {
  readonly status: number;
  readonly text: string;
}

const retryLater = "The service is not available right now. Please try again in a moment.";
const internal: Words = { status: 500, text: "Something went wrong. Please try again." };

/**
 * Statuses and words of errors by code. The errors' own messages are for logs: they name sessions and remedies for the
 * operator of the agent.
 */
const wordsByCode: Readonly<Record<string, Words>> = {
  ABORTED: { status: 409, text: "The reply was stopped." },
  CALL_ID_REUSED: {
    status: 409,
    text: "This was answered already with something else. Send it as a new message.",
  },
  CONFLICT: {
    status: 409,
    text: "The conversation was changed from elsewhere. Reload it and try again.",
  },
  CONTEXT_OVERFLOW: { status: 413, text: "The conversation is too long for the model." },
  EMPTY_REPLY: { status: 502, text: "The model gave no answer. Please try again." },
  INVALID_ID: { status: 400, text: "The request names something that cannot exist." },
  INVALID_INPUT: { status: 400, text: "The request cannot be understood." },
  LEASE_LOST: { status: 503, text: retryLater },
  MODEL: { status: 502, text: "The model cannot be reached right now. Please try again." },
  PENDING_CONFIRMATION: {
    status: 409,
    text: "An approval is waiting. Answer it before sending a new message.",
  },
  SERVICE_UNAVAILABLE: { status: 503, text: retryLater },
  SESSION_BUSY: { status: 409, text: "The conversation is busy with another message." },
  SHUTTING_DOWN: { status: 503, text: retryLater },
  TOO_LARGE: { status: 413, text: "The message is too large." },
  UNAVAILABLE: { status: 503, text: retryLater },
  // A model, a tool or a hook threw it.
  UNKNOWN: { status: 502, text: internal.text },
  UNKNOWN_OUTCOME: { status: 503, text: retryLater },
};

/** Words for an error by its code; `undefined` leaves them as they are. */
export type ErrorText = (code: string) => string | undefined;

/** Returns the words that a client gets for an error's code. */
export function errorText(code: string, custom?: ErrorText): string {
  return custom?.(code) ?? (wordsByCode[code] ?? internal).text;
}

/** Returns the refusal that an error becomes; what is not an error of Holdfast says nothing about itself. */
export function refusalOf(error: unknown, custom?: ErrorText): Refusal {
  if (error instanceof Refusal) {
    const { status, code, headers } = error;
    return new Refusal(status, code, custom?.(code) ?? error.message, headers);
  }
  return refusalOfCode(HoldfastError.is(error) ? error.code : "INTERNAL", custom);
}

/** Returns the refusal that an error becomes of which only the code is known. */
export function refusalOfCode(code: string, custom?: ErrorText): Refusal {
  const { status } = wordsByCode[code] ?? internal;
  const headers: Record<string, string> = status === 503 ? { "retry-after": "1" } : {};
  return new Refusal(status, code, errorText(code, custom), headers);
}
