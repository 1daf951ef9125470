import { join, resolve } from "node:path";
import { type Filesystem, InvalidInputError } from "@holdfast/core";
import {
  type CommandResult,
  type FileInfo,
  type FileNamespace,
  parseOptions,
  type SharedFiles,
  type ShellCommand,
} from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { maxFileBytesSchema } from "../max-file-bytes.js";
import { namespaceDirectories } from "../namespace-names.js";
import { showPath } from "../refusals.js";
import { runLimited } from "../run-limited.js";
import { commandEnvironment } from "./command-environment.js";
import { DirectoryTree } from "./directory-tree.js";
import { directoryPlace, filePlace } from "./place.js";
import { SharedDirectory } from "./shared-directory.js";

/** What a {@link LocalFilesystem} is made of. */
export interface LocalFilesystemOptions {
  /** The workspace directory, made when it is first needed; relative to the working directory. */
  readonly root: string;
  /**
   * Whether commands may be run. They run as this process's user, in the namespace's directory but not confined to it:
   * for agents that may do what this user may do.
   * @default false
   */
  readonly shell?: boolean | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = z.strictObject({
  root: z.string().min(1),
  shell: z.boolean().default(false),
  maxFileBytes: maxFileBytesSchema,
});

/**
 * Files in a directory of this host: a user's in `users/<user>/`, a session's without a user in `sessions/<session>/`.
 *
 * - No path leaves its namespace: not by `..`, not through a link, and not while somebody swaps directories for links.
 *   (Where the system has no `/proc/self/fd`, the last holds for reads and as far as paths can be checked for the rest.)
 * - `write` replaces a file in one step; `append` of any number of processes loses nothing.
 * - `delete` removes a name, a link itself included, and the directories that are empty then.
 * - `list` shows files and directories, no links, pipes or devices; those are refused by the other methods.
 *
 * @example
 * const files = new LocalFilesystem({ root: "./workspace" });
 * await files.write(namespace, "notes/today.md", new TextEncoder().encode("# Today"));
 */
export class LocalFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "local";
  readonly reach = "host";
  readonly shared: SharedFiles;
  /** Runs a command in the namespace's directory; only with the option `shell`. */
  readonly run?: (namespace: FileNamespace, command: ShellCommand) => Promise<CommandResult>;
  readonly #root: string;
  readonly #tree: DirectoryTree;

  /** @throws ConfigurationError */
  constructor(options: LocalFilesystemOptions) {
    const { root, shell, maxFileBytes } = parseOptions(optionsSchema, options, "LocalFilesystem");
    this.#root = resolve(root);
    this.#tree = new DirectoryTree({ root: this.#root, maxFileBytes });
    this.shared = new SharedDirectory({ root, maxFileBytes });
    if (shell) this.run = (namespace, command) => this.#run(namespace, command);
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#tree.read(filePlace(namespaceDirectories(namespace), path));
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.write(filePlace(namespaceDirectories(namespace), path), bytes);
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.append(filePlace(namespaceDirectories(namespace), path), bytes);
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#tree.delete(filePlace(namespaceDirectories(namespace), path));
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    return this.#tree.list(directoryPlace(namespaceDirectories(namespace), path));
  }

  async #run(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult> {
    const top = namespaceDirectories(namespace);
    const home = join(this.#root, ...top);
    const { workingDirectory = "", timeoutMs, signal } = command;
    const place = directoryPlace(top, workingDirectory);
    await this.#tree.make(directoryPlace(top, ""));
    if (!(await this.#tree.has(place)))
      throw new InvalidInputError(`there is no directory ${showPath(workingDirectory)} to work in`);
    return runLimited({
      argv: ["sh", "-c", command.command],
      cwd: join(home, ...place.segments),
      env: commandEnvironment(home),
      timeoutMs,
      signal,
    });
  }
}
