/** An error as the AI SDK's packages throw it, by its marker: no class of theirs is needed. */
export function sdkError(name: string, fields: Record<string, unknown>): Error {
  const error = Object.assign(new Error(String(fields["message"] ?? "failed")), { name }, fields);
  Object.defineProperty(error, Symbol.for(`vercel.ai.error.${name}`), { value: true });
  return error;
}

/** A provider's answer of a failing status, as an `APICallError`. */
export function answered(
  statusCode: number,
  body: unknown,
  responseHeaders: Record<string, string> = {},
): Error {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  const message = "Bad Request";
  return sdkError("AI_APICallError", { statusCode, responseBody, responseHeaders, message });
}
