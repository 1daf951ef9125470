import { isDeepStrictEqual } from "node:util";
import { type ExplicitToolResult, type TextBlock, toolResult } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { contentBlocks } from "./content-blocks.js";
import { fitBlocks } from "./fit-blocks.js";

/** Where a result came from; kept in its metadata. */
export interface ResultOrigin {
  readonly server: string;
  readonly tool: string;
}

/** What a server answered to `tools/call`, as a tool's result. */
export function resultOf(
  answer: unknown,
  origin: ResultOrigin,
  maxResultChars: number,
): ExplicitToolResult {
  if (!isRecord(answer))
    return toolResult({
      output: `The MCP server ${origin.server} answered with something that is not a result.`,
      state: "error",
      metadata: metadataOf(origin),
    });
  const blocks = [...contentBlocks(answer["content"])];
  const structured = answer["structuredContent"];
  const texts = blocks.filter((block) => block.type === "text");
  // Servers are asked to say structured content as text too; where they did, once is enough.
  if (structured !== undefined && structured !== null && !texts.some(says(structured)))
    blocks.push({ type: "text", text: JSON.stringify(structured) });
  if (blocks.length === 0) blocks.push({ type: "text", text: "(no output)" });
  return toolResult({
    output: fitBlocks(blocks, maxResultChars),
    state: answer["isError"] === true ? "error" : "success",
    metadata: metadataOf(origin),
  });
}

/** The metadata of every result of an MCP tool. */
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
