import { InvalidInputError } from "../../errors/errors.js";
import type { JsonValue } from "../../json/json.js";
import type { Block, Message } from "../../message/message.js";
import { cutIndex } from "../../plugin-kit/cut-text.js";
import type { BlobReference, LogQuery, LogSessionQuery } from "../../ports/conversation-log.js";
import { checkId } from "../../slot/slot.js";

/** Approximate length of a snippet in UTF-16 units. */
const SNIPPET_CHARS = 120;

/**
 * Returns the searchable text of a message: text, thinking, hints, names and inputs of tool calls, text of tool results;
 * not the bytes of images and files.
 */
export function searchableText(message: Message): string {
  return message.content
    .flatMap(textsOf)
    .filter((text) => text !== "")
    .join("\n");
}

/**
 * Tells whether {@link searchableText} includes the string at this path of a message, for logs that store long strings
 * separately. It includes neither bytes of images and files nor metadata.
 */
export function isSearched([top, , field, , outputField]: BlobReference["path"]): boolean {
  if (top !== "content") return false;
  if (field === "output") return outputField === "text" || outputField === "name";
  return field === "text" || field === "name" || field === "input";
}

/**
 * Returns a case-insensitive pattern for literal text. Case folds as with flag `i` without `u`: an ASCII letter matches its
 * two forms only, which lets a log search bytes.
 */
export function literalPattern(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "i");
}

/**
 * Returns the text around the first match of `query` in `text`, ignoring case; null when there is none.
 *
 * About 120 characters, with `…` where text was left out; a longer query is cut to that length.
 */
export function snippetAround(text: string, query: string): string | null {
  const found = literalPattern(query).exec(text);
  if (found === null) return null;
  const around = Math.max(SNIPPET_CHARS - found[0].length, 0) >> 1;
  const start = cutIndex(text, found.index - around);
  const end = cutIndex(text, start + SNIPPET_CHARS);
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

/**
 * Refuses a search across users or for an empty text.
 *
 * @throws InvalidInputError | InvalidIdError
 */
export function checkLogQuery(query: LogQuery): void {
  checkId(query.agentId, "agentId");
  if (query.userId !== null) checkId(query.userId, "userId");
  if (query.sessionId !== undefined) checkId(query.sessionId, "sessionId");
  else if (query.userId === null)
    throw new InvalidInputError(
      "a search without a user must name a session: anonymous sessions share nothing",
    );
  if (typeof query.text !== "string" || query.text === "")
    throw new InvalidInputError("the text to search for must not be empty");
  if (query.before === undefined) return;
  checkId(query.before.sessionId, "before.sessionId");
  if (!Number.isSafeInteger(query.before.seq))
    throw new InvalidInputError("before.seq must be the seq of a record");
}

/**
 * Refuses a listing without an agent or a user.
 *
 * @throws InvalidInputError | InvalidIdError
 */
export function checkSessionQuery(query: LogSessionQuery): void {
  checkId(query.agentId, "agentId");
  checkId(query.userId, "userId");
}

function textsOf(block: Block): string[] {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint":
      return [block.text];
    case "data":
      return block.name === undefined ? [] : [block.name];
    case "tool_call":
      return [block.name, JSON.stringify(block.input), ...escapedStrings(block.input)];
    case "tool_result":
      return [block.name, ...block.output.flatMap(textsOf)];
  }
}

/** Returns the strings that JSON escapes, unescaped, so that a line of code in an argument can be found. */
function escapedStrings(value: JsonValue): string[] {
  if (typeof value === "string")
    return JSON.stringify(value).length > value.length + 2 ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(escapedStrings);
}
