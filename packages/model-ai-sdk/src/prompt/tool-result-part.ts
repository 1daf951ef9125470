import type { DataBlock, TextBlock, ToolResultBlock } from "@holdfast/core";
import { takesFilesInResults } from "../dialect.js";
import { fileData, mention, sendable } from "./data-part.js";
import type { ResultContent, ResultOutput, ToolResultPart } from "./prompt.js";
import { type PromptScope, toolNameIn } from "./prompt-scope.js";
import { wellFormedText } from "./well-formed-text.js";

/** Converts a tool result to a part of the prompt. */
export function toolResultPart(block: ToolResultBlock, scope: PromptScope): ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: scope.toolCallIds.get(block.toolCallId) ?? block.toolCallId,
    toolName: toolNameIn(scope, block.name),
    output: outputOf(block, scope),
  };
}

function outputOf({ output, state }: ToolResultBlock, scope: PromptScope): ResultOutput {
  if (state === "success") {
    const content = output.map((block) => resultContent(block, scope));
    const files = content.filter(({ type }) => type !== "text");
    if (files.length === 0) return { type: "text", value: textOf(output) };
    if (scope.dialect !== "google") return { type: "content", value: content };
    // Gemini wants one response per call; its package makes one of every text, and for some models none of a file.
    const rest = output.filter((_, index) => content[index]?.type === "text");
    return { type: "content", value: [{ type: "text", text: textOf(rest) }, ...files] };
  }
  // V2 has no form for a refusal, and Anthropic's package makes an ordinary result of it.
  if (state === "denied" && scope.version !== "v2" && scope.dialect !== "anthropic")
    return { type: "execution-denied", reason: textOf(output) };
  return { type: "error-text", value: textOf(output) };
}

function textOf(output: ToolResultBlock["output"]): string {
  const texts = output.map((block) => (block.type === "text" ? block.text : mention(block)));
  return wellFormedText(texts.filter((text) => text !== "").join("\n")) || "(no output)";
}

function resultContent(block: TextBlock | DataBlock, scope: PromptScope): ResultContent {
  if (block.type === "text") return { type: "text", text: wellFormedText(block.text) || " " };
  return fileContent(block, scope) ?? { type: "text", text: mention(block) };
}

/** Converts a file in a result; null if the API, the package or the generation has no place for it. */
function fileContent(block: DataBlock, scope: PromptScope): ResultContent | null {
  const { version, dialect } = scope;
  const { mediaType } = block;
  const isImage = mediaType.startsWith("image/");
  if (!takesFilesInResults(dialect) || !(isImage || mediaType === "application/pdf")) return null;
  const source = sendable(block, scope);
  if (source === null) return null;
  const filename = block.name !== undefined && { filename: wellFormedText(block.name) };
  if (version === "v4")
    return { type: "file", mediaType, data: fileData(source, version), ...filename };
  if (source.kind === "url") {
    if (version === "v2") return null;
    return isImage
      ? { type: "image-url", url: source.url }
      : { type: "file-url", url: source.url, mediaType };
  }
  const { data } = source;
  if (version === "v2") return { type: "media", data, mediaType };
  // V3 packages leave out an image that is declared as a file.
  return isImage
    ? { type: "image-data", data, mediaType }
    : { type: "file-data", data, mediaType, ...filename };
}
