import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import { type Block, type Message, userMessage } from "@holdfast/core";
import { ATTACHMENTS, type Attachments } from "../updates/history-updates.js";

/**
 * Returns the message of a prompt. Files that the editor embeds become text that names them; a link to a file of the project
 * names its path as the file tools take it.
 *
 * @throws RequestError for content that was not offered
 */
export function promptMessage(prompt: readonly ContentBlock[], cwd: string): Message {
  const content: Block[] = [];
  const attachments: Record<string, Attachments[string]> = {};
  for (const block of prompt) {
    const read = readBlock(block, cwd);
    if (read.attachment) attachments[String(content.length)] = read.attachment;
    content.push(read.block);
  }
  if (content.length === 0) throw RequestError.invalidParams(undefined, "the prompt is empty");
  const isPlain = Object.keys(attachments).length === 0;
  return userMessage(content, isPlain ? {} : { metadata: { [ATTACHMENTS]: attachments } });
}

/** Returns what a person typed, without what is attached. */
export function typedText(prompt: readonly ContentBlock[]): string {
  return prompt.flatMap((block) => (block.type === "text" ? block.text : [])).join(" ");
}

interface ReadBlock {
  readonly block: Block;
  readonly attachment?: Attachments[string];
}

function readBlock(block: ContentBlock, cwd: string): ReadBlock {
  switch (block.type) {
    case "text":
      return { block: { type: "text", text: block.text } };
    case "image": {
      const { mimeType: mediaType, data } = block;
      return { block: { type: "data", mediaType, source: { kind: "base64", data } } };
    }
    case "resource_link": {
      const { uri, name, mimeType } = block;
      const text = `[@${name}](${pathOf(uri, cwd)})`;
      return { block: { type: "text", text }, attachment: attachmentOf(uri, name, mimeType) };
    }
    case "resource": {
      const { resource } = block;
      const path = pathOf(resource.uri, cwd);
      const attachment = attachmentOf(resource.uri, path, resource.mimeType);
      if ("text" in resource) {
        const text = `<context ref=${JSON.stringify(path)}>\n${resource.text}\n</context>`;
        return { block: { type: "text", text }, attachment };
      }
      const mediaType = resource.mimeType ?? "application/octet-stream";
      const source = { kind: "base64", data: resource.blob } as const;
      return { block: { type: "data", mediaType, source, name: path }, attachment };
    }
    default:
      throw RequestError.invalidParams(undefined, `prompts with ${block.type} are not supported`);
  }
}

function attachmentOf(
  uri: string,
  name: string,
  mimeType: string | null | undefined,
): Attachments[string] {
  return { uri, name, ...(typeof mimeType === "string" && { mimeType }) };
}

/** Returns the path of a file below the project as its tools take it, with the lines it names; any other URI as it is. */
function pathOf(uri: string, cwd: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    const url = new URL(uri);
    const lines = url.hash;
    const path = relative(cwd, fileURLToPath(new URL(url.pathname, "file://")));
    const isBelow = path !== "" && path !== ".." && !/^\.\.[/\\]/.test(path) && !isAbsolute(path);
    return isBelow ? `${path.replaceAll("\\", "/")}${lines}` : uri;
  } catch {
    return uri;
  }
}
