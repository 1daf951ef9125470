import type { Filesystem, KeyValueStore, Reach } from "@holdfast/core";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { maxFileBytesSchema } from "../max-file-bytes.js";
import { namespaceNames } from "../namespace-names.js";
import { checkDepth } from "../path-depth.js";
import { checkBytes, tooLarge } from "../refusals.js";
import { checkNewPath } from "./check-new-path.js";
import { appendDraft, type Draft, wholeDraft } from "./draft.js";
import { FileSpace } from "./file-space.js";
import { KeyedQueue } from "./keyed-queue.js";
import { listFiles } from "./list-files.js";
import { fileBytes, type Manifest } from "./manifest.js";

/** What a {@link RemoteFilesystem} is made of. */
export interface RemoteFilesystemOptions {
  /** Keeps the files; owned by the caller. */
  readonly keyValue: KeyValueStore;
  /** Tells workspaces on one store apart: agents with the same name share a user's files. @default "workspace" */
  readonly name?: string | undefined;
  /** What all users share. @default nothing */
  readonly shared?: SharedFiles | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = z.strictObject({
  keyValue: z.custom<KeyValueStore>(
    (value) =>
      typeof value === "object" && value !== null && "contract" in value && value.contract === 1,
    "a KeyValueStore of contract 1 is needed",
  ),
  name: z.string().min(1).max(255).default("workspace"),
  shared: z.custom<SharedFiles>((value) => typeof value === "object" && value !== null).optional(),
  maxFileBytes: maxFileBytesSchema,
});

/**
 * Files in a key-value store, for agents that run on several nodes.
 *
 * - Readers see a whole version of a file; a crash at any point leaves the old one or the new one.
 * - Appends of any number of nodes lose nothing, and cost the same however large the file is.
 * - What a crash leaves behind is removed by the next large write, or deletion, of the file, or by a listing.
 *
 * @example
 * const files = new RemoteFilesystem({ keyValue: RedisDistributedStore.from(client).keyValue });
 */
export class RemoteFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "remote";
  readonly reach: Reach;
  readonly shared?: SharedFiles | undefined;
  readonly #keyValue: KeyValueStore;
  readonly #name: string;
  readonly #maxFileBytes: number;
  /** This process takes turns with itself, and contends only with others. */
  readonly #turns = new KeyedQueue();

  /** @throws ConfigurationError */
  constructor(options: RemoteFilesystemOptions) {
    const parsed = parseOptions(optionsSchema, options, "RemoteFilesystem");
    this.#keyValue = parsed.keyValue;
    this.#name = parsed.name;
    this.#maxFileBytes = parsed.maxFileBytes;
    this.shared = parsed.shared;
    this.reach = parsed.keyValue.reach;
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#space(namespace).read(checkFilePath(path));
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const name = checkFilePath(path);
    checkBytes(name, bytes, this.#maxFileBytes);
    const draft = wholeDraft(new Uint8Array(bytes));
    await this.#change(namespace, name, true, async () => draft);
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const name = checkFilePath(path);
    checkBytes(name, bytes, this.#maxFileBytes);
    const added = new Uint8Array(bytes);
    await this.#change(namespace, name, false, async (current, space) => {
      if (current === null) return wholeDraft(added);
      const size = fileBytes(current) + added.length;
      if (size > this.#maxFileBytes) throw tooLarge(name, size, this.#maxFileBytes);
      return appendDraft(current, added, (chunks) => space.chunks.read(name, chunks));
    });
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    const name = checkFilePath(path);
    const space = this.#space(namespace);
    return this.#turns.run(turnOf(namespace, name), () => space.delete(name));
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    return listFiles(this.#space(namespace), checkDirectoryPath(path));
  }

  async #change(
    namespace: FileNamespace,
    path: string,
    sweeps: boolean,
    plan: (current: Manifest | null, space: FileSpace) => Promise<Draft | null>,
  ): Promise<void> {
    checkDepth(path, path.split("/").length);
    const space = this.#space(namespace);
    let isChecked = false;
    await this.#turns.run(turnOf(namespace, path), () =>
      space.change(
        path,
        async (current) => {
          if (current === null && !isChecked) await checkNewPath(space.manifests, path);
          isChecked = true;
          return plan(current, space);
        },
        sweeps,
      ),
    );
  }

  #space(namespace: FileNamespace): FileSpace {
    const names = [this.#name, ...namespaceNames(namespace)];
    return new FileSpace(this.#keyValue, names, this.#maxFileBytes);
  }
}

function turnOf(namespace: FileNamespace, path: string): string {
  const [kind, id] = namespaceNames(namespace);
  return `${kind} ${id.length} ${id} ${path}`;
}
