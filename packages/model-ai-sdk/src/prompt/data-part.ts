import type { DataBlock, DataSource } from "@holdfast/core";
import type { SpecVersion } from "../language-model.js";
import type { FileData, FilePart, TextPart } from "./prompt.js";
import type { PromptScope } from "./prompt-scope.js";
import { wellFormedText } from "./well-formed-text.js";

/** Converts a file of a user's message: shown if the model accepts it, otherwise mentioned. */
export function userDataPart(block: DataBlock, scope: PromptScope): FilePart | TextPart {
  const source = sendable(block, scope);
  if (source === null) return { type: "text", text: mention(block) };
  return {
    type: "file",
    mediaType: block.mediaType,
    data: fileData(source, scope.version),
    ...(block.name !== undefined && { filename: wellFormedText(block.name) }),
  };
}

/** Returns the source to send a file from; null if this model does not support it or has refused it. */
export function sendable(block: DataBlock, scope: PromptScope): DataSource | null {
  const { media } = scope.omit;
  if (
    media === "all" ||
    media.has(block.mediaType) ||
    !/^[\w.+-]+\/[\w.+*-]+$/.test(block.mediaType)
  )
    return null;
  const source = inlined(block.source);
  if (source.kind === "base64") return source.data === "" ? null : source;
  return URL.canParse(source.url) && isSupported(source.url, block.mediaType, scope)
    ? source
    : null;
}

/** Returns file data in the form of the generation. */
export function fileData(source: DataSource, version: SpecVersion): FileData {
  if (source.kind === "base64")
    return version === "v4" ? { type: "data", data: source.data } : source.data;
  const url = new URL(source.url);
  return version === "v4" ? { type: "url", url } : url;
}

/** Returns a text in place of a file: the contents of a text file, otherwise a note. */
export function mention(block: DataBlock): string {
  const { mediaType, name } = block;
  const source = inlined(block.source);
  const label = wellFormedText(name === undefined ? mediaType : `${name}, ${mediaType}`);
  if (source.kind === "url")
    return `[File ${label}, not shown here: ${wellFormedText(source.url)}]`;
  if (/^text\/|[/+]json$/.test(mediaType))
    return `[File ${label}]\n${Buffer.from(source.data, "base64").toString("utf8")}`;
  return `[File ${label}, which this model cannot be shown]`;
}

function inlined(source: DataSource): DataSource {
  const match = source.kind === "url" && /^data:[^,]*;base64,(.*)$/s.exec(source.url);
  return match ? { kind: "base64", data: match[1] ?? "" } : source;
}

function isSupported(url: string, mediaType: string, { supportedUrls }: PromptScope): boolean {
  const [top] = mediaType.split("/");
  return ["*", "*/*", `${top}/*`, mediaType].some((pattern) =>
    supportedUrls[pattern]?.some((expression) => url.toLowerCase().search(expression) >= 0),
  );
}
