import { HoldfastError } from "@holdfast/core";

/** The summariser wrote more than any summary may have. */
export class SummaryTooLong extends Error {
  override readonly name = "SummaryTooLong";
}

/** Not even a small piece of the conversation fits into the summariser's window. */
export class WindowTooSmall extends Error {
  override readonly name = "WindowTooSmall";
}

/** Returns why a step failed, without contents: messages of foreign errors may quote what was sent. */
export function failureOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  if (error instanceof SummaryTooLong) return "the summary was too long";
  if (error instanceof DOMException && error.name === "TimeoutError")
    return "the model did not write the summary within timeoutMs";
  if (error instanceof WindowTooSmall) return "the summariser's window is too small";
  return error instanceof Error ? error.name : "unknown";
}
