import { HoldfastError } from "@holdfast/core";
import { WindowTooSmall } from "../summary/summarize.js";
import { SummaryTooLong } from "../summary/summary-too-long.js";

/** Why something failed, in words that hold no contents: messages of foreign errors may quote what was sent. */
export function failureOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  if (error instanceof SummaryTooLong) return "the summary was too long";
  if (error instanceof DOMException && error.name === "TimeoutError")
    return "the summary was not written in time";
  if (error instanceof WindowTooSmall) return "the summariser's window is too small";
  return error instanceof Error ? error.name : "unknown";
}
