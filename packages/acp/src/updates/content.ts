import type { ContentBlock, PlanEntry, ToolCallContent } from "@agentclientprotocol/sdk";
import type { DataBlock, Task, TextBlock } from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";

/** Most characters of a tool's output that are shown, as in the events of its call. */
const MAX_OUTPUT_CHARS = 65_536;

/** Returns a file as an editor shows it. */
export function fileContent({
  mediaType,
  source,
  name,
}: Pick<DataBlock, "mediaType" | "source" | "name">): ContentBlock {
  if (source.kind === "url")
    return {
      type: "resource_link",
      uri: source.url,
      name: name ?? source.url,
      mimeType: mediaType,
    };
  const { data } = source;
  if (mediaType.startsWith("image/")) return { type: "image", data, mimeType: mediaType };
  if (mediaType.startsWith("audio/")) return { type: "audio", data, mimeType: mediaType };
  const uri = `attachment:${encodeURIComponent(name ?? "file")}`;
  return { type: "resource", resource: { blob: data, mimeType: mediaType, uri } };
}

/** Returns as much of a tool's output as an editor is shown. */
export function outputContent(output: readonly (TextBlock | DataBlock)[]): ToolCallContent[] {
  let left = MAX_OUTPUT_CHARS;
  return output.flatMap((block): ToolCallContent[] => {
    const size =
      block.type === "text"
        ? block.text.length
        : block.source.kind === "base64"
          ? block.source.data.length
          : 0;
    const room = left;
    left = Math.max(0, left - size);
    if (size === 0 && block.type === "text") return [];
    if (size <= room)
      return [
        {
          type: "content",
          content: block.type === "text" ? { type: "text", text: block.text } : fileContent(block),
        },
      ];
    const text =
      block.type === "text" ? cutText(block.text, room) : `[${block.name ?? block.mediaType}]`;
    return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
  });
}

/** Returns the todo list as a plan. */
export function planEntries(tasks: readonly Task[]): PlanEntry[] {
  return tasks.map(({ content, status, priority = "medium" }) => ({ content, status, priority }));
}
