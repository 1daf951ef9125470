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
} from "@holdfast/core/plugin-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import { namespaceNames } from "../filesystem/namespace-names.js";
import { showPath } from "../filesystem/refusals.js";
import { isHidden } from "./hidden-path.js";
import { Place } from "./namespace-place.js";
import { type SandboxOptions, type SandboxSettings, sandboxSettings } from "./options.js";
import type { Room } from "./room.js";
import { Sandbox } from "./sandbox.js";
import { stopWhenTooLarge } from "./stop-when-too-large.js";

/** What a {@link SandboxFilesystem} is made of. */
export interface SandboxFilesystemOptions extends SandboxOptions {
  /** Where files stay while no call works on them; commands never touch it. The caller closes it. */
  readonly files: Filesystem;
  /**
   * The workspace directory whose shared files commands may read at `/shared`; where this process is root, only if the
   * user that commands run as can get to it.
   * @default none
   */
  readonly sharedDirectory?: string | undefined;
}

/**
 * Files that commands work on in a sandbox, without network and without a view of the machine.
 *
 * - While a call is in a namespace (`enter`) its files are in a directory of this machine, and `read`, `write` and the
 *   others work there; `leave` keeps what changed in the filesystem `files`. At other times they work on that directly.
 * - Calls of one namespace at the same time share the directory; on two machines the last to leave wins, file by file.
 * - Kept are files and their bytes. Not kept: links, pipes, empty directories, rights (a script or program can be run
 *   again all the same) and names that are not UTF-8.
 * - `agents/` is never seen by a command.
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
  readonly #places = new Map<string, Place>();
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
   * Makes sure that commands can be run here, by running one; otherwise the first call finds out.
   *
   * @throws ConfigurationError that says what is missing and how to get it
   */
  async check(): Promise<void> {
    await this.#open();
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
      async (room, plain) => {
        const found = await room.list(plain);
        return plain === "" ? [...found, ...(await this.#hidden(namespace))].sort(byPath) : found;
      },
      (files, plain) => files.list(namespace, plain),
    );
  }

  /**
   * Runs a command line with `/bin/sh` in the namespace's files, which are at `/workspace`. One that a signal ended has
   * the exit code a shell gives it, 128 and the signal's number.
   *
   * @throws InvalidInputError for a working directory that is not there
   * @throws StateTooLargeError when it was stopped because its files take twice `maxTotalBytes` or `maxFiles`
   * @throws ConfigurationError when commands cannot be run here
   * @throws the reason of the command's signal when that ended it
   */
  async run(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult> {
    const workingDirectory = checkDirectoryPath(command.workingDirectory ?? "");
    command.signal.throwIfAborted();
    return this.#at(namespace, async (place) => {
      const sandbox = await this.#open();
      return place.during(sandbox, async (room) => {
        const { tree } = room;
        if (!(await tree.hasDirectory(workingDirectory)))
          throw new InvalidInputError(
            `there is no directory ${showPath(workingDirectory)} to work in`,
          );
        const check = (): Promise<void> => room.checkUse();
        return stopWhenTooLarge(check, command.signal, (signal) =>
          sandbox.run(tree, { ...command, workingDirectory, signal }),
        );
      });
    });
  }

  /** @throws ConfigurationError when commands cannot be run here */
  async enter(namespace: FileNamespace): Promise<FileVisit> {
    return this.#at(namespace, async (place) => place.enter(await this.#open()));
  }

  /** Keeps what calls that never left have changed, as far as that is possible, and removes every trace from the disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = await Promise.allSettled(
      [...this.#places.values()].map((place) => place.close()),
    );
    this.#places.clear();
    const sandbox = await this.#sandbox?.catch(() => undefined);
    this.#sandbox = undefined;
    await sandbox?.close();
    for (const each of ended) if (each.status === "rejected") throw each.reason;
  }

  /** Works on a file in the room while somebody is in, and where files stay otherwise. */
  async #work<T>(
    namespace: FileNamespace,
    path: string,
    inRoom: (room: Room, path: string) => Promise<T>,
    elsewhere: (files: Filesystem, path: string) => Promise<T>,
  ): Promise<T> {
    if (isHidden(path)) return elsewhere(this.#files, path);
    return this.#at(namespace, (place) =>
      place.whereFilesAre(
        (room) => inRoom(room, path),
        () => elsewhere(this.#files, path),
      ),
    );
  }

  async #hidden(namespace: FileNamespace): Promise<FileInfo[]> {
    const found = await this.#files.list(namespace);
    return found.filter(({ path }) => isHidden(path));
  }

  async #at<T>(namespace: FileNamespace, work: (place: Place) => Promise<T>): Promise<T> {
    const slot = checkSlot(namespace);
    // By whose files they are: two agents of one user are in the same room.
    const key = namespaceNames(slot).join("\0");
    const known = this.#places.get(key);
    const place =
      known ??
      new Place({ ...this.#settings, files: this.#files, namespace: slot }, () => {
        if (this.#places.get(key) === place) this.#places.delete(key);
      });
    if (known === undefined) this.#places.set(key, place);
    return place.use(() => work(place));
  }

  async #open(): Promise<Sandbox> {
    if (this.#isClosed)
      throw new ConfigurationError("sandbox: the filesystem was closed; make a new one");
    this.#sandbox ??= Sandbox.open(this.#settings, this.#sharedDirectory);
    const opening = this.#sandbox;
    try {
      return await opening;
    } catch (error) {
      // What was missing may be installed by the next time.
      if (this.#sandbox === opening) this.#sandbox = undefined;
      throw error;
    }
  }
}

function byPath(a: FileInfo, b: FileInfo): number {
  return a.path < b.path ? -1 : 1;
}
