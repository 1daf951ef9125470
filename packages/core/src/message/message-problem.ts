import { isRecord } from "../json/json.js";

const roles = new Set<unknown>(["user", "assistant", "tool", "system"]);
const resultStates = new Set<unknown>(["success", "error", "interrupted", "denied"]);

/**
 * Returns the problem of a value that should be a message, or null. Unknown fields are ignored.
 *
 * Written by hand: it runs over whole histories at load, and a schema library would copy objects by assignment, which
 * sets the prototype for a `__proto__` key.
 */
export function messageProblem(value: unknown): string | null {
  if (!isRecord(value)) return "it is not an object";
  if (typeof value["id"] !== "string" || value["id"] === "") return "id is not a non-empty string";
  if (!roles.has(value["role"])) return "role is not user, assistant, tool or system";
  if (value["name"] !== undefined && typeof value["name"] !== "string")
    return "name is not a string";
  if (typeof value["createdAt"] !== "string") return "createdAt is not a string";
  if (!isOptionalRecord(value["metadata"])) return "metadata is not an object";
  if (value["usage"] !== undefined && !isUsage(value["usage"]))
    return "usage is not an object with inputTokens and outputTokens";
  if (!Array.isArray(value["content"])) return "content is not a list";
  for (const [index, block] of value["content"].entries()) {
    const problem = blockProblem(block);
    if (problem !== null) return `content[${index}]: ${problem}`;
  }
  return null;
}

function isUsage(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value["inputTokens"] === "number" &&
    typeof value["outputTokens"] === "number" &&
    (value["cachedInputTokens"] === undefined || typeof value["cachedInputTokens"] === "number")
  );
}

function isOptionalRecord(value: unknown): boolean {
  return value === undefined || isRecord(value);
}

function blockProblem(block: unknown): string | null {
  if (!isRecord(block)) return "it is not an object";
  switch (block["type"]) {
    case "text":
    case "thinking":
      if (typeof block["text"] !== "string") return "text is not a string";
      return providerMetadataProblem(block);
    case "hint":
      return typeof block["text"] === "string" && typeof block["source"] === "string"
        ? null
        : "a hint needs text and source";
    case "data":
      return dataProblem(block);
    case "tool_call":
      if (typeof block["id"] !== "string" || block["id"] === "") return "a tool_call needs an id";
      if (typeof block["name"] !== "string") return "a tool_call needs a name";
      if (block["input"] === undefined) return "a tool_call needs an input";
      return providerMetadataProblem(block);
    case "tool_result":
      return resultProblem(block);
    default:
      return "unknown block type";
  }
}

function providerMetadataProblem(block: Record<string, unknown>): string | null {
  return isOptionalRecord(block["providerMetadata"]) ? null : "providerMetadata is not an object";
}

function dataProblem(block: Record<string, unknown>): string | null {
  const source = block["source"];
  if (typeof block["mediaType"] !== "string") return "data needs a mediaType";
  if (block["name"] !== undefined && typeof block["name"] !== "string")
    return "name is not a string";
  if (!isRecord(source)) return "data needs a source";
  const text = source["kind"] === "base64" ? source["data"] : source["url"];
  return (source["kind"] === "base64" || source["kind"] === "url") && typeof text === "string"
    ? providerMetadataProblem(block)
    : "a data source is base64 data or a url";
}

function resultProblem(block: Record<string, unknown>): string | null {
  if (typeof block["toolCallId"] !== "string") return "a tool_result needs a toolCallId";
  if (typeof block["name"] !== "string") return "a tool_result needs a name";
  if (!resultStates.has(block["state"]))
    return "state is not success, error, interrupted or denied";
  if (!isOptionalRecord(block["metadata"])) return "metadata is not an object";
  if (!Array.isArray(block["output"])) return "output is not a list";
  return outputProblem(block["output"]);
}

/** Returns the problem of a value that should be the output of a tool, or null. */
export function outputProblem(output: readonly unknown[]): string | null {
  for (const [index, part] of output.entries()) {
    if (!isRecord(part) || (part["type"] !== "text" && part["type"] !== "data"))
      return `output[${index}] is neither text nor data`;
    const problem = blockProblem(part);
    if (problem !== null) return `output[${index}]: ${problem}`;
  }
  return null;
}
