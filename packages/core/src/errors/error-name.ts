/** Returns a name of an error for events; messages of foreign errors may quote contents. */
export function errorName(error: unknown): string {
  // Not the number that a DOMException has for a code.
  if (typeof error === "object" && error !== null && "code" in error)
    if (typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
