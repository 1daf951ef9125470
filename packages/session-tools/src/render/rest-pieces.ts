import type { Block, Message } from "@holdfast/core";
import type { BlobPaths, Path } from "./blob-paths.js";
import { jsonPieces, objectPieces } from "./json-pieces.js";
import type { Piece } from "./part.js";

/** Fields of each block that the body of a rendering shows. */
const shownFields: Readonly<Record<Block["type"], readonly string[]>> = {
  text: ["type", "text"],
  thinking: ["type", "text"],
  hint: ["type", "text", "source"],
  data: ["type", "mediaType", "source", "name"],
  tool_call: ["type", "id", "name", "input"],
  tool_result: ["type", "toolCallId", "name", "output", "state"],
};

type Entry = readonly [key: string, value: readonly Piece[]];

/** Renders as a JSON object what the body does not show: id, times, usage, metadata, fields of other releases. */
export function restPieces(message: Message, blobs: BlobPaths): readonly Piece[] {
  const entries = restOf(message, [], ["role", "content"], blobs);
  const blocks = message.content.flatMap((block, index): Entry[] => {
    const rest = blockRest(block, ["content", index], blobs);
    return rest.length === 0 ? [] : [[String(index), objectPieces(rest)]];
  });
  return objectPieces(
    blocks.length === 0 ? entries : [...entries, ["blocks", objectPieces(blocks)]],
  );
}

function blockRest(block: Block, path: Path, blobs: BlobPaths): readonly Entry[] {
  const rest = restOf(block, path, shownFields[block.type], blobs);
  if (block.type !== "tool_result") return rest;
  const outputs = block.output.flatMap((part, index): Entry[] => {
    const partRest = blockRest(part, [...path, "output", index], blobs);
    return partRest.length === 0 ? [] : [[String(index), objectPieces(partRest)]];
  });
  return outputs.length === 0 ? rest : [...rest, ["output", objectPieces(outputs)]];
}

function restOf(
  value: object,
  path: Path,
  shown: readonly string[],
  blobs: BlobPaths,
): readonly Entry[] {
  return Object.entries(value)
    .filter(([key, field]) => field !== undefined && !shown.includes(key))
    .map(([key, field]): Entry => [key, jsonPieces(field, [...path, key], blobs)]);
}
