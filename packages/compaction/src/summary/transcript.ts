import type { Block, DataBlock, Message, TextBlock } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";

const speakers: Readonly<Record<Message["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Tool results",
  system: "System",
};

/** Returns a message as text for a summariser: everything but data, which is named with its size. */
export function transcriptOf(message: Message): string {
  const { role, name, content } = message;
  const heading = `[${speakers[role]}${name === undefined ? "" : ` ${name}`}]`;
  return `${heading}\n${content.map(blockText).join("\n")}`;
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return `(thought) ${block.text}`;
    case "hint":
      return block.source === "summary"
        ? `(summary of what came before)\n${block.text}`
        : `(note from ${block.source}) ${block.text}`;
    case "data":
      return dataText(block);
    case "tool_call":
      return `(calls ${block.name}) ${JSON.stringify(block.input)}`;
    case "tool_result": {
      const how = block.state === "success" ? "" : `, ${block.state}`;
      return `(result of ${block.name}${how}) ${block.output.map(outputText).join("\n")}`;
    }
  }
}

function outputText(part: TextBlock | DataBlock): string {
  return part.type === "text" ? part.text : dataText(part);
}

function dataText({ mediaType, name, source }: DataBlock): string {
  const what = name === undefined ? mediaType : `${mediaType} "${name}"`;
  const where = source.kind === "url" ? source.url : `${source.data.length} characters of base64`;
  return `(${what}, ${where})`;
}

/** Tokens of the blank line between two texts. */
const SEPARATOR_TOKENS = 2;

/**
 * Joins texts into as few chunks as possible, each of at most `maxTokens`. Nothing is left out: a text that is too long for
 * one chunk continues in the next.
 */
export function transcriptChunks(
  texts: readonly string[],
  maxTokens: number,
  countText: (text: string) => number,
): string[] {
  const chunks: string[] = [];
  let current = "";
  let used = 0;
  const close = (): void => {
    if (current !== "") chunks.push(current);
    current = "";
    used = 0;
  };
  for (const text of texts) {
    const whole = countText(text) + SEPARATOR_TOKENS;
    const parts =
      whole <= maxTokens ? [text] : pieces(text, maxTokens - SEPARATOR_TOKENS, countText);
    for (const part of parts) {
      const tokens = part === text ? whole : countText(part) + SEPARATOR_TOKENS;
      if (used + tokens > maxTokens) close();
      current += current === "" ? part : `\n\n${part}`;
      used += tokens;
    }
  }
  close();
  return chunks;
}

/** Splits one long text; a piece starts at the size of the last one and shrinks until it fits. */
function pieces(text: string, maxTokens: number, countText: (text: string) => number): string[] {
  const parts: string[] = [];
  let size = Math.max(2, Math.floor((text.length * maxTokens) / Math.max(1, countText(text))));
  for (let start = 0; start < text.length; ) {
    let end = pieceEnd(text, start, size);
    while (end - start > 2 && countText(text.slice(start, end)) > maxTokens) {
      size = Math.max(2, Math.floor((end - start) * 0.75));
      end = pieceEnd(text, start, size);
    }
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/** Characters to search back for a space to cut at. */
const LOOK_BACK = 200;

/** Returns the end of a piece of about `size` characters: after a space if there is one, so that no word or number is split. */
function pieceEnd(text: string, start: number, size: number): number {
  if (start + size >= text.length) return text.length;
  const end = Math.max(start + 1, cutIndex(text, start + size));
  const least = Math.max(start + Math.ceil(size / 2), end - LOOK_BACK);
  for (let at = end; at > least; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return end;
}
