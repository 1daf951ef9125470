import { isRecord } from "@holdfast/core/plugin-kit";
import { ReportedError } from "../stream/reported-error.js";
import { spokenFields, withoutQuotations } from "./provider-words.js";

/** What can be told of a failure without quoting what was sent. */
export interface ErrorFacts {
  readonly statusCode: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What the package says about trying again; undefined when it says nothing. */
  readonly isRetryable: boolean | undefined;
  /** The name of the AI SDK's error class, such as `AI_APICallError`; else the error's own. */
  readonly name: string;
  /** Whether the provider reported it in a reply that had begun, rather than instead of one. */
  readonly isReported: boolean;
  /** System error codes in the chain, such as ECONNRESET. */
  readonly codes: readonly string[];
  /** The provider's own words: message, type, code and status. Only to be matched, never to be shown. */
  readonly words: string;
}

/** How far down a chain of causes to look, how much of a list, and how large a body. */
const maxDepth = 6;
const maxItems = 10;
const maxBodyChars = 1_000_000;

/** Fields that hold what a provider says. */
const nested = ["data", "error", "errors", "response", "detail", "details", "metadata"];

/**
 * The AI SDK marks its errors with symbols. `instanceof` would miss errors of another copy of the same package, of which a
 * program with two generations has several.
 */
export function hasSdkMarker(error: unknown, name: string): boolean {
  const marker = Symbol.for(`vercel.ai.error.${name}`);
  return typeof error === "object" && error !== null && marker in error;
}

/** Gathers what an error and its causes tell. */
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
    // These two quote the reply they could not read; what it is may be an error all the same.
    if (hasSdkMarker(value, "AI_JSONParseError")) return;
    if (hasSdkMarker(value, "AI_TypeValidationError")) {
      visit(value["value"], depth + 1);
      return;
    }
    for (const key of spokenFields) visit(value[key], depth + 1);
    for (const key of ["retryDelay", "n_ctx"])
      if (value[key] !== undefined) words.push(`"${key}": ${JSON.stringify(value[key])}`);
    for (const key of [...nested, "cause", "lastError"]) visit(value[key], depth + 1);
    // The whole answer; a router quotes that of the provider behind it.
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
