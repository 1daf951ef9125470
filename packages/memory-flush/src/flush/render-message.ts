import type { Block, DataBlock, Message } from "@holdfast/core";
import { cutMiddle } from "../quote/cut-text.js";
import { openMark, quoteText } from "../quote/quote-text.js";

const MAX_TEXT_CHARS = 6_000;
const MAX_MESSAGE_CHARS = 12_000;
const MAX_ARGUMENT_CHARS = 500;
const MAX_RESULT_CHARS = 1_000;

/**
 * Tools of the memory and the history: they only repeat what is kept elsewhere. They are named one by one: a pattern such as
 * `memory_*` would leave out what tools of others say, for example those of an MCP server called `memory`.
 */
const ECHOES: ReadonlySet<string> = new Set([
  ...["memory_search", "memory_get", "memory_save"],
  ...["session_list", "session_history", "session_search"],
]);

/** Quotes a message for a flush, shortened; null when there is nothing in it to remember. */
export function renderMessage({ role, name, content }: Message): string | null {
  if (role === "system") return null;
  const parts = content.map(renderBlock).filter((part) => part !== null);
  if (parts.length === 0) return null;
  const from = { from: role, ...(name !== undefined && { name }) };
  return `${openMark("message", from)}\n${fitParts(parts).join("\n")}\n</message>`;
}

/** Keeps whole parts while there is room: half a part would leave a mark open. */
function fitParts(parts: readonly string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const part of parts) {
    chars += part.length;
    if (chars > MAX_MESSAGE_CHARS && kept.length > 0)
      return [...kept, `[… ${parts.length - kept.length} more parts left out …]`];
    kept.push(part);
  }
  return kept;
}

function renderBlock(block: Block): string | null {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? null : quoteText(cutMiddle(block.text, MAX_TEXT_CHARS));
    case "thinking":
      return null;
    case "hint":
      return block.source === "summary"
        ? null
        : `(note from ${quoteText(block.source)}) ${quoteText(cutMiddle(block.text, MAX_RESULT_CHARS))}`;
    case "data":
      return quoteText(dataText(block));
    case "tool_call": {
      if (ECHOES.has(block.name)) return null;
      const input = quoteText(cutMiddle(JSON.stringify(block.input) ?? "", MAX_ARGUMENT_CHARS));
      return `${openMark("call", { tool: block.name })}${input}</call>`;
    }
    case "tool_result": {
      if (ECHOES.has(block.name)) return null;
      const text = block.output.map((part) => (part.type === "text" ? part.text : dataText(part)));
      const about = {
        tool: block.name,
        ...(block.state !== "success" && { state: block.state }),
      };
      const output = quoteText(cutMiddle(text.join("\n"), MAX_RESULT_CHARS));
      return `${openMark("result", about)}${output}</result>`;
    }
  }
}

function dataText({ mediaType, name }: DataBlock): string {
  return name === undefined ? `(${mediaType})` : `(${mediaType}, ${name})`;
}
