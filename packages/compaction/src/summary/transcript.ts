import type { Block, DataBlock, Message, TextBlock } from "@holdfast/core";

const speakers: Readonly<Record<Message["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Tool results",
  system: "System",
};

/** A message as text for a summariser, whole but for data, which is named with its size. */
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
