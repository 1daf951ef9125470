import {
  type ElicitRequestParams,
  InsufficientScopeError,
  type JSONRPCErrorResponse,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import {
  AuthorizationFailed,
  AuthorizationNeeded,
  authorizationWords,
} from "../auth/authorization-needed.js";
import { cleanText } from "../catalogue/clean-text.js";

/**
 * Meaning of a failed request:
 * - `not_sent`: it certainly did not run, and the connection can no longer be used. It may be repeated on a new one.
 * - `refused`: the server refused it.
 * - `lost`: the connection is gone; it may have run.
 * - `unknown`: it may have run; the connection may be intact.
 */
export interface Failure {
  readonly kind: "not_sent" | "refused" | "lost" | "unknown";
  /** Address that a person has to open before the request can be made; null when the program has shown it. */
  readonly authorize?: string | null | undefined;
  /** Questions that a person has to answer before the request can be made. */
  readonly elicitations?: readonly ElicitRequestParams[] | undefined;
  /** Description worded to follow "the server"; contains nothing of the URL, the headers or the environment. */
  readonly words: string;
}

const maxMessageChars = 2_000;
/** Failure of a message that is too large, to follow "the server". */
export const tooLargeWords = "sent a message larger than maxMessageBytes";
const malformedWords = "answered with something that is not MCP";
/** Code of {@link malformedAnswer}; outside of those that the protocol reserves. */
const malformedCode = -39_999;

/** Returns the error response that takes the place of an answer which is no JSON-RPC response. */
export function malformedAnswer(id: string | number): JSONRPCErrorResponse {
  return { jsonrpc: "2.0", id, error: { code: malformedCode, message: malformedWords } };
}

/** Thrown by the HTTP transport when an answer will not come; the message is safe to show. */
export class AnswerLost extends Error {
  override readonly name = "AnswerLost";
}

/** A limit of the connection was exceeded, which ends it; the message, to follow "the server", is safe to show. */
export class LimitExceeded extends Error {
  override readonly name = "LimitExceeded";
}

/** Codes of errors that occur only before a request is sent: DNS failure, refused connection, invalid certificate. */
const neverConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/;

/**
 * Classifies an error of the MCP client. Its message is kept only if it is the server's answer to the request.
 *
 * @param redact - removes secrets from the server's message
 */
export function failureOf(error: unknown, redact: (text: string) => string): Failure {
  if (error instanceof AuthorizationNeeded)
    return { kind: "refused", words: authorizationWords, authorize: error.url ?? null };
  if (error instanceof AuthorizationFailed) return { kind: "refused", words: error.message };
  if (error instanceof UrlElicitationRequiredError)
    return {
      kind: "refused",
      words: "asks the user to open an address first",
      elicitations: error.elicitations,
    };
  if (error instanceof ProtocolError && error.code === malformedCode)
    return { kind: "unknown", words: malformedWords };
  if (error instanceof ProtocolError)
    return {
      kind: "refused",
      words: `answered with an error: ${cleanText(redact(error.message), maxMessageChars)} (code ${error.code})`,
    };
  if (error instanceof SdkHttpError) return httpFailure(error);
  if (error instanceof InsufficientScopeError) return notLetIn(403);
  // Thrown in place of sending; what was sent before is lost with the connection.
  if (error instanceof LimitExceeded) return { kind: "not_sent", words: error.message };
  if (error instanceof AnswerLost) return { kind: "unknown", words: error.message };
  if (error instanceof SdkError) return sdkFailure(error);
  const { code, syscall = "" } = systemError(error);
  if (code !== undefined && syscall.startsWith("spawn"))
    return { kind: "not_sent", words: `could not be started (${code}): check command and cwd` };
  // EHOSTUNREACH and the like may also hit a running request; only from `connect` they mean that nothing was sent.
  if (code !== undefined)
    return neverConnected.test(code) || syscall === "connect"
      ? { kind: "not_sent", words: `could not be reached (${code})` }
      : { kind: "lost", words: `broke the connection (${code})` };
  if (error instanceof Error && error.message === "Not connected")
    return { kind: "not_sent", words: "is not connected" };
  if (error instanceof Error && /protocol version is not supported/.test(error.message))
    return { kind: "refused", words: "speaks a version of MCP that is not supported" };
  // The client checks messages with Zod, of which there may be several copies.
  if (error instanceof Error && error.name === "ZodError")
    return { kind: "unknown", words: malformedWords };
  return { kind: "unknown", words: "did something the MCP client does not understand" };
}

function httpFailure(error: SdkHttpError): Failure {
  const { status } = error;
  const text = typeof error.data["text"] === "string" ? error.data["text"] : "";
  // The protocol uses 404 for an expired session; some servers send 400 and mention the session.
  if (status === 404 || (status === 400 && /session/i.test(text)))
    return { kind: "not_sent", words: `does not know the session or the address (HTTP ${status})` };
  if (status === 401 || status === 403) return notLetIn(status);
  if (status >= 300 && status < 500)
    return { kind: "refused", words: `refused the request (HTTP ${status})` };
  return { kind: "unknown", words: `failed (HTTP ${status})` };
}

function notLetIn(status: number): Failure {
  return { kind: "refused", words: `does not let this client in (HTTP ${status}): check headers` };
}

function sdkFailure(error: SdkError): Failure {
  switch (error.code) {
    case SdkErrorCode.NotConnected:
      return { kind: "not_sent", words: "is not connected" };
    case SdkErrorCode.ConnectionClosed:
      return { kind: "lost", words: "ended or closed the connection" };
    case SdkErrorCode.RequestTimeout:
      return { kind: "unknown", words: "did not answer in time" };
    case SdkErrorCode.InvalidResult:
      return { kind: "unknown", words: malformedWords };
    default:
      return { kind: "unknown", words: `did not answer according to MCP (${error.code})` };
  }
}

/** Returns code and syscall of a system error, which `fetch` puts into the cause. */
function systemError(error: unknown): { readonly code?: string; readonly syscall?: string } {
  for (const one of [error, (error as { cause?: unknown } | undefined)?.cause])
    if (typeof one === "object" && one !== null && "code" in one && typeof one.code === "string")
      return "syscall" in one && typeof one.syscall === "string"
        ? { code: one.code, syscall: one.syscall }
        : { code: one.code };
  return {};
}
