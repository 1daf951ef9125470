import type {
  DataBlock,
  Filesystem,
  Message,
  Offloader,
  Slot,
  Tool,
  ToolResultBlock,
} from "@holdfast/core";
import {
  type FileNamespace,
  isWellFormed,
  type OffloadOptions,
  type OffloadReference,
} from "@holdfast/core/plugin-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import { describeData, keepData } from "./data-file.js";
import { contentHash, RESULTS_DIRECTORY, resultPath, sessionPath } from "./result-path.js";
import { transcript } from "./transcript.js";

/** Options of a {@link WorkspaceOffloader}. */
export interface WorkspaceOffloaderOptions {
  readonly filesystem: Filesystem;
  /** Tool for agents without `read_file`, mentioned in place of it. */
  readonly readBackTool?: Tool | undefined;
}

/**
 * Stores content that leaves a context in files of the session's user:
 *
 * - tool results in `large_tool_results/<agent>/<session>/<tool>-<hash>.txt`, or in another directory that the caller
 *   chooses; as a JSON string in a `.json` file where UTF-8 cannot encode the text
 * - messages in `conversation_history/<agent>/<session>/<time of the first>-<hash>.md`
 * - data, also inside of results and messages, in `data/<sha256 of the bytes>.<extension>`
 *
 * Names are derived from contents: the same content is always the same file, and no file is overwritten with other content.
 */
export class WorkspaceOffloader implements Offloader {
  readonly readBackTool: Tool | undefined;
  readonly #filesystem: Filesystem;

  constructor(options: WorkspaceOffloaderOptions) {
    this.#filesystem = options.filesystem;
    this.readBackTool = options.readBackTool;
  }

  async offloadToolResult(
    slot: Slot,
    result: ToolResultBlock,
    { directory = RESULTS_DIRECTORY }: OffloadOptions = {},
  ): Promise<OffloadReference> {
    const namespace = checkSlot(slot);
    const texts: string[] = [];
    for (const part of result.output)
      texts.push(part.type === "text" ? part.text : await this.#dataReference(namespace, part));
    const text = texts.join("\n");
    const isPlain = isWellFormed(text);
    const content = isPlain ? text : JSON.stringify(text);
    const extension = isPlain ? "txt" : "json";
    const path = resultPath({ directory, slot: namespace, name: result.name, content, extension });
    await this.#write(namespace, path, content);
    return { reference: path, readBack: this.#readBack(path, true) };
  }

  async offloadContext(slot: Slot, messages: readonly Message[]): Promise<OffloadReference> {
    const namespace = checkSlot(slot);
    const content = await transcript(messages, (block) =>
      keepData(this.#filesystem, namespace, block),
    );
    const path = `conversation_history/${sessionPath(namespace)}/${timeName(messages)}-${contentHash(content)}.md`;
    await this.#write(namespace, path, content);
    return { reference: path, readBack: this.#readBack(path, true) };
  }

  async offloadData(slot: Slot, block: DataBlock): Promise<OffloadReference> {
    const { path, bytes } = await keepData(this.#filesystem, checkSlot(slot), block);
    const readBack = `${this.#readBack(path, false)} It is ${describeData(block)}, ${bytes} bytes.`;
    return { reference: path, readBack };
  }

  async #dataReference(namespace: FileNamespace, block: DataBlock): Promise<string> {
    if (block.source.kind === "url") return `[${describeData(block)}: ${block.source.url}]`;
    const { path, bytes } = await keepData(this.#filesystem, namespace, block);
    return `[${describeData(block)}, ${bytes} bytes: ${path}]`;
  }

  async #write(namespace: FileNamespace, path: string, content: string): Promise<void> {
    await this.#filesystem.write(namespace, path, new TextEncoder().encode(content));
  }

  #readBack(path: string, isText: boolean): string {
    const name = JSON.stringify(path);
    if (this.readBackTool !== undefined)
      return `Read it with ${this.readBackTool.name}, path ${name}.`;
    return isText
      ? `Read it page by page with read_file, path ${name}, or search it with grep_files.`
      : `Read it with read_file, path ${name}.`;
  }
}

/** Returns the time of the first message, so that names sort in the order of the conversation. */
function timeName(messages: readonly Message[]): string {
  const time = Date.parse(messages[0]?.createdAt ?? "");
  if (Number.isNaN(time)) return "undated";
  return new Date(time).toISOString().replace(/[-:.]/g, "").toLowerCase();
}
