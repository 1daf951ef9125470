import { isRecord } from "@holdfast/core/plugin-kit";
import { ReportedError } from "../stream/raw-chunks.js";
import { spokenFields, withoutQuotations } from "./provider-words.js";

/** Facts about a failure that do not quote the request. */
export interface ErrorFacts {
  readonly statusCode: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The package's own opinion on retrying, if it has one. */
  readonly isRetryable: boolean | undefined;
  /** Name of the AI SDK's error class, such as `AI_APICallError`; otherwise the error's own. */
  readonly name: string;
  /** True if the provider reported it in a reply that had started. */
  readonly isReported: boolean;
  /** System error codes in the chain, such as ECONNRESET. */
  readonly codes: readonly string[];
  /** The provider's message, type, code and status; only for matching, never to be shown. */
  readonly words: string;
}

/** Limits on the chain of causes, on lists, and on the body. */
const maxDepth = 6;
const maxItems = 10;
const maxBodyChars = 1_000_000;

/** Fields that contain the provider's error. */
const nested = ["data", "error", "errors", "response", "detail", "details", "metadata"];

/**
 * Tells whether an error has this marker symbol of the AI SDK. `instanceof` would miss errors of another copy of the package,
 * of which a program with two generations has several.
 */
export function hasSdkMarker(error: unknown, name: string): boolean {
  const marker = Symbol.for(`vercel.ai.error.${name}`);
  return typeof error === "object" && error !== null && marker in error;
}

/** Collects the facts of an error and its causes. */
export function errorFacts(error: unknown): ErrorFacts {
  const seen = new Set<unknown>();
  const words: string[] = [];
  const codes: string[] = [];
  let statusCode: number | undefined;
  let isRetryable: boolean | undefined;
  let headers: Record<string, string> = {};
  let name: string | undefined;
  let isReported = false;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === "string") words.push(withoutQuotations(value));
    if (typeof value !== "object" || value === null || depth > maxDepth || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) for (const item of value.slice(0, maxItems)) visit(item, depth + 1);
    if (!isRecord(value)) return;
    const isApiCall = hasSdkMarker(value, "AI_APICallError");
    if (isApiCall || value instanceof Error)
      statusCode ??= numberOf(value["statusCode"]) ?? numberOf(value["status"]);
    if (isApiCall) {
      if (typeof value["isRetryable"] === "boolean") isRetryable ??= value["isRetryable"];
      if (isRecord(value["responseHeaders"])) headers = { ...headersOf(value["responseHeaders"]) };
      name = "AI_APICallError";
    }
    isReported ||= value instanceof ReportedError;
    if (value instanceof Error && (name === undefined || name === "ReportedError"))
      name = value.name;
    if (value instanceof Error && typeof value["code"] === "string") codes.push(value["code"]);
    // These two quote the reply that they could not read, which may itself be an error.
    if (hasSdkMarker(value, "AI_JSONParseError")) return;
    if (hasSdkMarker(value, "AI_TypeValidationError")) {
      visit(value["value"], depth + 1);
      return;
    }
    for (const key of spokenFields) visit(value[key], depth + 1);
    for (const key of ["retryDelay", "n_ctx"])
      if (value[key] !== undefined) words.push(`"${key}": ${JSON.stringify(value[key])}`);
    for (const key of [...nested, "cause", "lastError"]) visit(value[key], depth + 1);
    // The whole response; a router quotes that of the provider behind it.
    for (const key of ["responseBody", "raw"]) visit(parsed(value[key]), depth + 1);
  };
  visit(error, 0);
  return {
    statusCode,
    headers,
    isRetryable,
    isReported,
    name: name ?? "unknown",
    codes,
    words: words.join("\n"),
  };
}

function parsed(body: unknown): unknown {
  if (typeof body !== "string" || body.length > maxBodyChars) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function headersOf(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
