import type { DataBlock, DataSource } from "@holdfast/core";
import type { SpecVersion } from "../language-model.js";
import type { FileData, FilePart, TextPart } from "./prompt.js";
import type { PromptScope } from "./prompt-scope.js";
import { wellFormedText } from "./well-formed-text.js";

/** A file of a user's message: shown where the model can take it, else mentioned. */
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

/** The source a file can be sent from, or null when this model was not made for it, or refused it before. */
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

/** File data in the form of the generation. */
export function fileData(source: DataSource, version: SpecVersion): FileData {
  if (source.kind === "base64")
    return version === "v4" ? { type: "data", data: source.data } : source.data;
  const url = new URL(source.url);
  return version === "v4" ? { type: "url", url } : url;
}

/** Words in the place of a file; of one that is text, its text. */
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
