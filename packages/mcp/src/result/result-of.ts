import { isDeepStrictEqual } from "node:util";
import {
  type DataBlock,
  type ExplicitToolResult,
  type TextBlock,
  toolResult,
} from "@holdfast/core";
import { contentChars, cutIndex, isRecord } from "@holdfast/core/plugin-kit";
import { contentBlocks } from "./content-blocks.js";

type Block = TextBlock | DataBlock;

/** Server and tool of a result, kept in its metadata. */
export interface ResultOrigin {
  readonly server: string;
  readonly tool: string;
}

/** Converts a server's answer to `tools/call` to a tool result. */
export function resultOf(
  answer: unknown,
  origin: ResultOrigin,
  maxResultChars: number,
): ExplicitToolResult {
  const wrong = (what: string): ExplicitToolResult =>
    toolResult({
      output: `The MCP server ${origin.server} answered with ${what}. The tool may have done its work; look before you call it again.`,
      state: "error",
      metadata: metadataOf(origin),
    });
  if (!isRecord(answer)) return wrong("something that is not a result");
  const { content = [], structuredContent: structured } = answer;
  if (!Array.isArray(content)) return wrong("a result whose content is not a list");
  const blocks = [...contentBlocks(content)];
  const texts = blocks.filter((block) => block.type === "text");
  // The protocol asks servers to repeat structured content as text; if they did, once is enough.
  if (structured !== undefined && structured !== null && !texts.some(says(structured)))
    blocks.push({ type: "text", text: jsonOf(structured) });
  if (blocks.length === 0) blocks.push({ type: "text", text: "(no output)" });
  return toolResult({
    output: fitBlocks(blocks, maxResultChars),
    state: answer["isError"] === true ? "error" : "success",
    metadata: metadataOf(origin),
  });
}

function jsonOf(structured: unknown): string {
  try {
    return JSON.stringify(structured);
  } catch {
    return "[The server sent structured content that is nested too deep; it was left out.]";
  }
}

/** Returns the metadata of every result of an MCP tool. */
export function metadataOf({ server, tool }: ResultOrigin): {
  readonly mcp: { readonly server: string; readonly tool: string };
} {
  return { mcp: { server, tool } };
}

function says(value: unknown): (block: TextBlock) => boolean {
  return ({ text }) => {
    try {
      return isDeepStrictEqual(JSON.parse(text), value);
    } catch {
      return false;
    }
  };
}

/** Fits blocks into `maxChars` of text and data: cuts texts, leaves out data, and adds a note about it. */
export function fitBlocks(blocks: readonly Block[], maxChars: number): readonly Block[] {
  let left = maxChars;
  let omitted = 0;
  const kept = blocks.flatMap((block): readonly Block[] => {
    const chars = contentChars(block);
    if (chars <= left) {
      left -= chars;
      return [block];
    }
    const head = block.type === "text" ? cutIndex(block.text, left) : 0;
    omitted += chars - head;
    left = block.type === "text" ? 0 : left;
    return block.type === "text" && head > 0 ? [{ ...block, text: block.text.slice(0, head) }] : [];
  });
  if (omitted === 0) return blocks;
  const note = `[${omitted} characters of this result were left out: it was larger than ${maxChars}.]`;
  return [...kept, { type: "text", text: note }];
}
