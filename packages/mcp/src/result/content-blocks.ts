import type { DataBlock, TextBlock } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { cleanText } from "../catalogue/clean-text.js";

type Block = TextBlock | DataBlock;

const maxLabelChars = 500;
const notBase64 = /[^A-Za-z0-9+/]/;
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;

/** Items of a result that are shown; each makes one block, or two. */
const maxItems = 1_000;

/** Converts the `content` of a server's answer to blocks of a tool result. */
export function contentBlocks(content: readonly unknown[]): readonly Block[] {
  const blocks = content.slice(0, maxItems).flatMap(blocksOf);
  const more = content.length - maxItems;
  return more > 0 ? [...blocks, note(`${more} items of content more`)] : blocks;
}

function blocksOf(item: unknown): readonly Block[] {
  if (!isRecord(item)) return [note("something that is not content")];
  switch (item["type"]) {
    case "text":
      return typeof item["text"] === "string"
        ? [text(item["text"])]
        : [note("a text without text")];
    case "image":
    case "audio":
      return [data(item["data"], item["mimeType"], undefined, item["type"])];
    case "resource":
      return resource(item["resource"]);
    case "resource_link":
      return [text(`[resource link] ${labels(item, ["name", "uri", "mimeType", "description"])}`)];
    default:
      return [note(`content of the type ${label(item["type"])}`)];
  }
}

/** Converts an embedded resource: its URI precedes a text, and names data. */
function resource(value: unknown): readonly Block[] {
  if (!isRecord(value)) return [note("a resource without content")];
  const uri = label(value["uri"]);
  if (typeof value["text"] === "string")
    return [text(`[resource] ${labels(value, ["uri", "mimeType"])}`), text(value["text"])];
  return [data(value["blob"], value["mimeType"], uri, "resource")];
}

/** Checks data here: a provider that refuses it would refuse every later request of the session too. */
function data(bytes: unknown, type: unknown, name: string | undefined, what: string): Block {
  if (typeof bytes !== "string" || !isBase64(bytes)) return note(`${what} data that is not base64`);
  return {
    type: "data",
    mediaType: typeof type === "string" && mediaType.test(type) ? type : "application/octet-stream",
    source: { kind: "base64", data: bytes },
    ...(name !== undefined && name !== "" && { name }),
  };
}

/** Searches for an invalid character: one expression that matches the whole overflows the stack at some megabytes. */
function isBase64(bytes: string): boolean {
  const padding = bytes.endsWith("==") ? 2 : bytes.endsWith("=") ? 1 : 0;
  const digits = bytes.slice(0, bytes.length - padding);
  return digits !== "" && bytes.length % 4 === 0 && !notBase64.test(digits);
}

function text(value: string): TextBlock {
  return { type: "text", text: value };
}

function note(what: string): TextBlock {
  return text(`[The server sent ${what}; it was left out.]`);
}

function label(value: unknown): string {
  return typeof value === "string" ? cleanText(value, maxLabelChars) : "";
}

function labels(item: Record<string, unknown>, keys: readonly string[]): string {
  return keys
    .map((key) => label(item[key]))
    .filter((one) => one !== "")
    .join(" · ");
}
