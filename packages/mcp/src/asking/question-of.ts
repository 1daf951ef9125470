import { isDeepStrictEqual } from "node:util";
import { type JsonObject, suspend } from "@holdfast/core";
import type { ToolQuestion } from "@holdfast/core/plugin-kit";
import type { ElicitRequestParams } from "@modelcontextprotocol/client";
import { cleanText } from "../catalogue/clean-text.js";
import { cleanSchema } from "../catalogue/tool-input.js";

/** Longest text of a question or of a field in it. */
const maxTextChars = 4_000;

/**
 * Returns what a server asks as a question for a person; null when it cannot be asked: it is too large, or its URL is not one
 * that a browser should open.
 */
export function questionOf(
  params: ElicitRequestParams,
  redact: (text: string) => string,
): ToolQuestion | null {
  const message = cleanText(redact(params.message), maxTextChars) || "(no words)";
  try {
    const asked =
      params.mode === "url"
        ? { message, url: params.url }
        : { message, schema: cleanSchema(params.requestedSchema as JsonObject, maxTextChars) };
    return suspend(undefined, { question: asked }).question ?? null;
  } catch {
    return null;
  }
}

/** Tells whether two questions ask the same: an answer to one may be given to the other. */
export function isSameQuestion(one: ToolQuestion, other: ToolQuestion): boolean {
  // Fields of a stored question may come back in another order.
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain({ message, schema = {}, url = "" }: ToolQuestion): unknown {
  return { message, schema: JSON.parse(JSON.stringify(schema)), url };
}
