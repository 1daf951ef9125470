/** Returns what an error says; whatever was thrown, it has words. */
export function messageOf(error: unknown): string {
  try {
    return wordsOf(error);
  } catch {
    return "it threw something that has no text";
  }
}

function wordsOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const { message, name, code } = error as Readonly<Record<string, unknown>>;
  if (typeof message === "string" && message !== "") return message;
  if (error instanceof Error && typeof name === "string") return name;
  if (typeof code === "string" || typeof code === "number") return `code ${code}`;
  const text = String(error);
  return text === "" || text.startsWith("[object ") ? "it threw an object without a message" : text;
}
