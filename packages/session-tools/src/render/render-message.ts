import type { DataBlock, TextBlock, ToolResultBlock } from "@holdfast/core";
import { messageProblem } from "@holdfast/core/store-kit";
import type { MessageRecord } from "../log-records.js";
import { isSessionTool } from "../tool-calls.js";
import { BlobPaths, type Path } from "./blob-paths.js";
import type { Part } from "./part.js";
import { PartList } from "./part-list.js";
import { restPieces } from "./rest-pieces.js";

/** A message as a model reads it. */
export interface RenderedMessage {
  /** Texts, thoughts, tool calls and results, every text verbatim. */
  readonly body: readonly Part[];
  /** The body, followed by the rest: id, usage, metadata. */
  readonly whole: readonly Part[];
}

/** Renders the message of a record without loading its blobs. */
export function renderMessage(record: MessageRecord): RenderedMessage {
  const { message } = record;
  const list = new PartList(new BlobPaths(record));
  // A newer release may write blocks that this one does not know; they are shown as JSON.
  if (messageProblem(message) !== null) {
    list.label("[message of unknown form]\n").json(message, []);
    return { body: list.parts, whole: list.parts };
  }
  let dataIndex = 0;
  const data = (block: DataBlock, path: Path) => dataLine(list, block, path, dataIndex++);
  for (const [index, block] of message.content.entries()) {
    const path = ["content", index];
    list.isEcho = "name" in block && block.type !== "data" && isSessionTool(block.name);
    if (index > 0) list.label("\n");
    switch (block.type) {
      case "text":
        if (index > 0) list.label("[text]\n");
        list.verbatim(block.text, [...path, "text"]);
        break;
      case "thinking":
        list.label("[thinking]\n").verbatim(block.text, [...path, "text"]);
        break;
      case "hint":
        list.label("[hint from ").json(block.source, [...path, "source"], "label");
        list.label("]\n").verbatim(block.text, [...path, "text"]);
        break;
      case "data":
        data(block, path);
        break;
      case "tool_call":
        list.label("[tool call ").verbatim(block.name, [...path, "name"]);
        list.label(", id ").verbatim(block.id, [...path, "id"], "label");
        list.label("]\n").json(block.input, [...path, "input"]);
        break;
      case "tool_result":
        resultLines(list, block, path, data);
        break;
    }
  }
  const body = [...list.parts];
  return {
    body,
    // Few readers want it.
    get whole() {
      const rest = new PartList(list.blobs);
      rest.label(`${body.length > 0 ? "\n" : ""}[message] `);
      return [...body, ...rest.pieces(restPieces(message, list.blobs)).parts];
    },
  };
}

function resultLines(
  list: PartList,
  { name, state, toolCallId, output }: ToolResultBlock,
  path: Path,
  data: (block: DataBlock, path: Path) => void,
): void {
  list.label("[result of ").verbatim(name, [...path, "name"]);
  list
    .label(`: ${state}, call `)
    .verbatim(toolCallId, [...path, "toolCallId"], "label")
    .label("]");
  for (const [index, part] of output.entries()) {
    const partPath = [...path, "output", index];
    list.label(index > 0 && part.type === "text" ? "\n[text]\n" : "\n");
    if (part.type === "data") data(part, partPath);
    else list.verbatim((part as TextBlock).text, [...partPath, "text"]);
  }
}

function dataLine(list: PartList, block: DataBlock, path: Path, index: number): void {
  const { mediaType, source, name } = block;
  list.label(`[data ${index}: `).verbatim(mediaType, [...path, "mediaType"], "label");
  if (source.kind === "url")
    list.label(", at ").verbatim(source.url, [...path, "source", "url"], "label");
  else {
    const blob = list.blobs.at([...path, "source", "data"]);
    // The exact size depends on the padding, for which the blob would have to be loaded.
    const size =
      blob === undefined ? base64Bytes(source.data) : `about ${Math.floor((blob.bytes / 4) * 3)}`;
    list.label(`, ${size} bytes`);
  }
  if (name !== undefined) list.label(", ").json(name, [...path, "name"]);
  list.label("]");
}

function base64Bytes(data: string): number {
  return Buffer.byteLength(data, "base64");
}
