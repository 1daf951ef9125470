import { HoldfastError } from "@holdfast/core";

/** A failure of this package's own, in words that hold no contents. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

/** Why something failed, as a code or in words that hold no contents: messages of foreign errors may quote what was sent. */
export function failureOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  if (error instanceof MemoryFailure) return error.message;
  return error instanceof Error ? error.name : "unknown";
}
