import { isRecord } from "@holdfast/core";

/** What can be told of a failure without quoting what was sent. */
export interface ErrorFacts {
  readonly statusCode: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What the package says about trying again; undefined when it says nothing. */
  readonly isRetryable: boolean | undefined;
  /** The name of the AI SDK's error class, such as `AI_APICallError`; else the error's own. */
  readonly name: string;
  /** System error codes in the chain, such as ECONNRESET. */
  readonly codes: readonly string[];
  /** The provider's words: message, type, code and status. Only to be matched, never to be shown. */
  readonly words: string;
}

/** How far down a chain of causes to look, and how much of a body. */
const maxDepth = 6;
const maxChars = 20_000;

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
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === "string") words.push(value.slice(0, maxChars));
    if (!isRecord(value) || depth > maxDepth || seen.has(value)) return;
    seen.add(value);
    if (hasSdkMarker(value, "AI_APICallError")) {
      statusCode ??= numberOf(value["statusCode"]);
      if (typeof value["isRetryable"] === "boolean") isRetryable ??= value["isRetryable"];
      if (isRecord(value["responseHeaders"])) headers = { ...headersOf(value["responseHeaders"]) };
      name = "AI_APICallError";
    }
    if (value instanceof Error && (name === undefined || name === "ReportedError"))
      name = value.name;
    if (value instanceof Error && typeof value["code"] === "string") codes.push(value["code"]);
    for (const key of [
      "message",
      "type",
      "code",
      "status",
      "reason",
      "functionality",
      "responseBody",
    ])
      visit(value[key], depth + 1);
    for (const key of ["data", "error", "cause", "lastError"]) visit(value[key], depth + 1);
  };
  visit(error, 0);
  return {
    statusCode,
    headers,
    isRetryable,
    name: name ?? "unknown",
    codes,
    words: words.join("\n"),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function headersOf(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
