import type { Block, DataBlock, Message } from "@holdfast/core";

/** The rendering of a message, written the plain way: everything in memory, no pieces. */
export function expectedRendering(message: Message): string {
  let dataIndex = 0;
  const data = ({ mediaType, source, name }: DataBlock): string => {
    const size =
      source.kind === "url"
        ? `at ${source.url}`
        : source.data.length > 65_536
          ? `about ${Math.floor((source.data.length / 4) * 3)} bytes`
          : `${Buffer.from(source.data, "base64").length} bytes`;
    const named = name === undefined ? "" : `, ${JSON.stringify(name)}`;
    return `[data ${dataIndex++}: ${mediaType}, ${size}${named}]`;
  };
  const lines = (block: Block, index: number): string => {
    if (block.type === "data") return data(block);
    if (block.type === "text") return index > 0 ? `[text]\n${block.text}` : block.text;
    if (block.type === "thinking") return `[thinking]\n${block.text}`;
    if (block.type === "hint") return `[hint from ${JSON.stringify(block.source)}]\n${block.text}`;
    if (block.type === "tool_call")
      return `[tool call ${block.name}, id ${block.id}]\n${JSON.stringify(block.input)}`;
    const head = `[result of ${block.name}: ${block.state}, call ${block.toolCallId}]`;
    return [head, ...block.output.map(lines)].join("\n");
  };
  return [...message.content.map(lines), `[message] ${rest(message)}`].join("\n");
}

function rest({ role: _, content, ...fields }: Message): string {
  const blocks = content.map((block): [number, object] => [content.indexOf(block), extras(block)]);
  const kept = blocks.filter(([, extra]) => Object.keys(extra).length > 0);
  return JSON.stringify(
    kept.length === 0 ? fields : { ...fields, blocks: Object.fromEntries(kept) },
  );
}

function extras(block: Block): object {
  if ("providerMetadata" in block && block.providerMetadata !== undefined)
    return { providerMetadata: block.providerMetadata };
  if ("metadata" in block && block.metadata !== undefined) return { metadata: block.metadata };
  return {};
}
