import { AsyncLocalStorage } from "node:async_hooks";
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { definePlugin, type Filesystem, type Plugin, type Reach } from "@holdfast/core";
import {
  checkFilePath,
  type FileInfo,
  type FileNamespace,
  KeyedQueue,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import type { EditorClient } from "./editor-client.js";
import { EditorError } from "./editor-error.js";

/** Parts of an {@link EditorFilesystem}. */
export interface EditorFilesystemParts {
  readonly client: EditorClient;
  readonly sessionId: string;
  /** Directory that paths begin at; absolute. */
  readonly cwd: string;
  /** Files of the same directory on disk. */
  readonly disk: Filesystem;
  readonly timeoutMs: number;
}

/** Set while a tool searches many files: opening each of them in the editor would be slow, and close to endless in a large project. */
const searching = new AsyncLocalStorage<true>();

const searchTools: readonly string[] = ["glob_files", "grep_files", "list_files"];

/** Creates the plugin that lets tools which search many files read them from disk. */
export function diskSearches(): Plugin {
  return definePlugin({
    name: "acp",
    contract: 1,
    setup: (host) =>
      host.use({
        name: "acp",
        onToolCall: (step, next) =>
          searchTools.includes(step.call.name) ? searching.run(true, next) : next(),
      }),
  });
}

/**
 * Files as the editor shows them: text is read and written through the editor, where it offers that, so that unsaved changes
 * count and edits appear in open buffers. Everything else, listing and searching for example, works on the disk.
 *
 * What the editor refuses, such as a file outside its project, is read from the disk.
 */
export class EditorFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly shared: SharedFiles | undefined;
  readonly #parts: EditorFilesystemParts;
  readonly #changes = new KeyedQueue();

  constructor(parts: EditorFilesystemParts) {
    this.#parts = parts;
    this.kind = `editor-${parts.disk.kind}`;
    this.reach = parts.disk.reach;
    this.shared = parts.disk.shared;
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const { client, disk, sessionId, timeoutMs } = this.#parts;
    const plain = checkFilePath(path);
    // Refuses links and files that are too large, and tells text from other files.
    const stored = await disk.read(namespace, plain);
    const isOffered = client.capabilities.fs?.readTextFile === true;
    if (!isOffered || searching.getStore() || (stored && !isUtf8(stored))) return stored;
    try {
      const { content } = await client.request(
        methods.client.fs.readTextFile,
        { sessionId, path: this.#at(plain) },
        { timeoutMs },
      );
      return new TextEncoder().encode(content);
    } catch (error) {
      if (EditorError.is(error) && error.reason === "refused") return stored;
      throw error;
    }
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const plain = checkFilePath(path);
    await this.#changes.run(plain, () => this.#write(namespace, plain, bytes));
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const plain = checkFilePath(path);
    await this.#changes.run(plain, async () => {
      const before = (await this.read(namespace, plain)) ?? new Uint8Array();
      await this.#write(namespace, plain, Buffer.concat([before, bytes]));
    });
  }

  delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#parts.disk.delete(namespace, path);
  }

  list(namespace: FileNamespace, path?: string): Promise<readonly FileInfo[]> {
    return this.#parts.disk.list(namespace, path);
  }

  async close(): Promise<void> {
    await this.#parts.disk.close?.();
  }

  async #write(namespace: FileNamespace, plain: string, bytes: Uint8Array): Promise<void> {
    const { client, disk, sessionId, timeoutMs } = this.#parts;
    // The disk refuses paths through links, which an editor would follow.
    await disk.read(namespace, plain);
    const isOffered = client.capabilities.fs?.writeTextFile === true;
    if (!isOffered || !isUtf8(bytes)) return disk.write(namespace, plain, bytes);
    const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    try {
      await client.request(
        methods.client.fs.writeTextFile,
        { sessionId, path: this.#at(plain), content },
        { timeoutMs },
      );
    } catch (error) {
      if (!EditorError.is(error) || error.reason !== "refused") throw error;
      await disk.write(namespace, plain, bytes);
    }
  }

  #at(path: string): string {
    return join(this.#parts.cwd, ...path.split("/"));
  }
}
