import { HoldfastError } from "@holdfast/core";

/** A failure with a message that holds no contents, so that events may show it. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

/** Returns the code or the name of an error, or the message of a {@link MemoryFailure}: other messages may quote contents. */
export function failureOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  if (error instanceof MemoryFailure) return error.message;
  return error instanceof Error ? error.name : "unknown";
}
