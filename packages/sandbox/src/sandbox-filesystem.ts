import { resolve } from "node:path";
import { ConfigurationError, type Filesystem, InvalidInputError, type Reach } from "@holdfast/core";
import {
  type CommandResult,
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
  type FileVisit,
  type SharedFiles,
  type ShellCommand,
  showPath,
} from "@holdfast/core/plugin-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import { namespaceNames } from "@holdfast/workspace/filesystem-kit";
import { isHidden } from "./files/backing-files.js";
import { SharedWorkingCopy } from "./files/shared-working-copy.js";
import type { WorkingCopy } from "./files/working-copy.js";
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from "./options.js";
import { Sandbox } from "./sandbox.js";
import type { SandboxBounds } from "./sandbox-bounds.js";

/** Options of a {@link SandboxFilesystem}. */
export interface SandboxFilesystemOptions extends SandboxOptions {
  /** Backing filesystem: stores the files while no call works on them; commands never touch it. The caller closes it. */
  readonly files: Filesystem;
  /**
   * Workspace directory whose shared files commands may read at `/shared`; where this process is root, only if the user
   * that commands run as can reach it.
   * @default none
   */
  readonly sharedDirectory?: string | undefined;
}

/**
 * Files that commands work on in a bubblewrap sandbox, without network and without access to the rest of the machine.
 *
 * - From `enter` to `leave` a call works on a copy of the files in a directory of this machine; `leave` writes changes back
 *   to the filesystem `files`. At other times `read`, `write` and the others use that filesystem directly.
 * - Concurrent calls of one namespace share the copy. On two machines the last call to leave wins, file by file.
 * - Files are written back with their bytes. Links, pipes, empty directories, permissions and names that are not UTF-8 are
 *   not; scripts and programs become executable again.
 * - Commands never see `agents/`.
 *
 * @example
 * const files = new SandboxFilesystem({ files: new RemoteFilesystem({ keyValue }) });
 */
export class SandboxFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "sandbox";
  readonly reach: Reach;
  readonly shared: SharedFiles | undefined;
  readonly #files: Filesystem;
  readonly #settings: SandboxSettings;
  readonly #sharedDirectory: string | undefined;
  readonly #copies = new Map<string, SharedWorkingCopy>();
  #sandbox: Promise<Sandbox> | undefined;
  #isClosed = false;

  /** @throws ConfigurationError */
  constructor(options: SandboxFilesystemOptions) {
    const { files, sharedDirectory, ...rest } = options;
    this.#settings = sandboxSettings(rest, "SandboxFilesystem");
    if (files?.contract !== 1)
      throw new ConfigurationError(
        "SandboxFilesystem: option files must be a Filesystem of contract 1",
      );
    this.#files = files;
    this.#sharedDirectory = sharedDirectory === undefined ? undefined : resolve(sharedDirectory);
    this.reach = files.reach;
    this.shared = files.shared;
  }

  /**
   * Checks that commands can be run on this machine, by running one; otherwise the first call does.
   *
   * @throws ConfigurationError that says what is missing and how to get it
   */
  async check(): Promise<void> {
    await this.#open();
  }

  /**
   * Describes how the resources of commands are bounded on this machine.
   *
   * @throws ConfigurationError when commands cannot be run on this machine
   */
  async bounds(): Promise<SandboxBounds> {
    return (await this.#open()).bounds;
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#work(
      namespace,
      checkFilePath(path),
      ({ tree }, plain) => tree.read(plain),
      (files, plain) => files.read(namespace, plain),
    );
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#work(
      namespace,
      checkFilePath(path),
      ({ tree }, plain) => tree.write(plain, bytes),
      (files, plain) => files.write(namespace, plain, bytes),
    );
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#work(
      namespace,
      checkFilePath(path),
      ({ tree }, plain) => tree.append(plain, bytes),
      (files, plain) => files.append(namespace, plain, bytes),
    );
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#work(
      namespace,
      checkFilePath(path),
      ({ tree }, plain) => tree.delete(plain),
      (files, plain) => files.delete(namespace, plain),
    );
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    return this.#work(
      namespace,
      checkDirectoryPath(path),
      async (copy, plain) => {
        const found = await copy.list(plain);
        return plain === "" ? [...found, ...(await this.#hidden(namespace))].sort(byPath) : found;
      },
      (files, plain) => files.list(namespace, plain),
    );
  }

  /**
   * Runs a command line with `/bin/sh` on the namespace's files, which are at `/workspace`. The exit code of a command that
   * a signal ended is 128 plus the number of the signal, as in a shell.
   *
   * @throws InvalidInputError for a working directory that does not exist
   * @throws StateTooLargeError when it was ended because its files take twice `maxTotalBytes` or `maxFiles`, or its
   *   processes more than `memoryBytes`
   * @throws StoreUnavailableError when it was ended because the disk is almost full
   * @throws ConfigurationError when commands cannot be run on this machine
   * @throws the reason of the command's signal when that ended it
   */
  async run(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult> {
    const workingDirectory = checkDirectoryPath(command.workingDirectory ?? "");
    command.signal.throwIfAborted();
    return this.#withCopy(namespace, async (shared) => {
      const sandbox = await this.#open();
      return shared.during(sandbox, async (copy) => {
        const { tree } = copy;
        if (!(await tree.hasDirectory(workingDirectory)))
          throw new InvalidInputError(
            `there is no directory ${showPath(workingDirectory)} to work in`,
          );
        return copy.whileWithinLimits(command.signal, (signal, onStarted) =>
          sandbox.run(tree, { ...command, workingDirectory, signal }, onStarted),
        );
      });
    });
  }

  /**
   * Copies the namespace's files to this machine for a call.
   *
   * @throws ConfigurationError when commands cannot be run on this machine
   */
  async enter(namespace: FileNamespace): Promise<FileVisit> {
    return this.#withCopy(namespace, async (shared) => shared.enter(await this.#open()));
  }

  /** Writes back the changes of calls that never left, as far as possible, and removes every copy from the disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = await Promise.allSettled([...this.#copies.values()].map((copy) => copy.close()));
    this.#copies.clear();
    const sandbox = await this.#sandbox?.catch(() => undefined);
    this.#sandbox = undefined;
    await sandbox?.close();
    for (const each of ended) if (each.status === "rejected") throw each.reason;
  }

  /** Runs `onCopy` while a call or a command is in the namespace, and `onBacking` otherwise. */
  async #work<T>(
    namespace: FileNamespace,
    path: string,
    onCopy: (copy: WorkingCopy, path: string) => Promise<T>,
    onBacking: (files: Filesystem, path: string) => Promise<T>,
  ): Promise<T> {
    if (isHidden(path)) return onBacking(this.#files, path);
    return this.#withCopy(namespace, (shared) =>
      shared.onCurrentFiles(
        (copy) => onCopy(copy, path),
        () => onBacking(this.#files, path),
      ),
    );
  }

  async #hidden(namespace: FileNamespace): Promise<FileInfo[]> {
    const found = await this.#files.list(namespace);
    return found.filter(({ path }) => isHidden(path));
  }

  async #withCopy<T>(
    namespace: FileNamespace,
    work: (shared: SharedWorkingCopy) => Promise<T>,
  ): Promise<T> {
    const slot = checkSlot(namespace);
    // By owner: two agents of one user share a copy.
    const key = namespaceNames(slot).join("\0");
    const known = this.#copies.get(key);
    const shared =
      known ??
      new SharedWorkingCopy({
        ...this.#settings,
        files: this.#files,
        namespace: slot,
        onIdle: () => {
          if (this.#copies.get(key) === shared) this.#copies.delete(key);
        },
      });
    if (known === undefined) this.#copies.set(key, shared);
    return shared.use(() => work(shared));
  }

  async #open(): Promise<Sandbox> {
    if (this.#isClosed)
      throw new ConfigurationError("sandbox: the filesystem was closed; create a new one");
    this.#sandbox ??= this.#openSandbox();
    const opening = this.#sandbox;
    try {
      return await opening;
    } catch (error) {
      // The next attempt may find installed what is missing now.
      if (this.#sandbox === opening) this.#sandbox = undefined;
      throw error;
    }
  }

  async #openSandbox(): Promise<Sandbox> {
    const sandbox = await Sandbox.open(this.#settings, this.#sharedDirectory);
    try {
      this.#settings.onBounds?.(sandbox.bounds);
    } catch {
      // A listener that throws must not keep commands from running.
    }
    return sandbox;
  }
}

function byPath(a: FileInfo, b: FileInfo): number {
  return a.path < b.path ? -1 : 1;
}
