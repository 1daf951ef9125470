import { type Filesystem, HoldfastError } from "@holdfast/core";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
} from "@holdfast/core/plugin-kit";
import type { ProtectedPaths } from "./protected-paths.js";
import type { VirtualFiles } from "./virtual-files.js";

/** A file as tools see it. */
export interface ViewedFile {
  readonly bytes: Uint8Array;
  /** Whether it is the user's own; the others cannot be changed. */
  readonly isOwn: boolean;
}

/** The parts of a {@link FileView}. */
export interface FileViewParts {
  readonly filesystem: Filesystem;
  readonly virtual: VirtualFiles;
  readonly protectedPaths: ProtectedPaths;
}

/**
 * What tools see of a namespace: the user's own files, and behind them what all users share.
 *
 * At the names that are meant for sharing it is the other way round, so that what the system prompt says about a skill is
 * what the model reads, whatever a command has left there.
 */
export class FileView {
  readonly #parts: FileViewParts;

  constructor(parts: FileViewParts) {
    this.#parts = parts;
  }

  /** The file, or null when there is none. */
  async read(namespace: FileNamespace, path: string): Promise<ViewedFile | null> {
    const { filesystem, protectedPaths } = this.#parts;
    const plain = checkFilePath(path);
    const own = async (): Promise<ViewedFile | null> => {
      const bytes = await filesystem.read(namespace, plain);
      return bytes && { bytes, isOwn: true };
    };
    const shared = async (): Promise<ViewedFile | null> => {
      const bytes = this.#parts.virtual.read(plain) ?? (await filesystem.shared?.read(plain));
      return bytes ? { bytes, isOwn: false } : null;
    };
    return protectedPaths.isShared(plain)
      ? ((await shared()) ?? (await own()))
      : ((await own()) ?? (await shared()));
  }

  /** The files below a directory, or the one file that the path names, in path order. */
  async files(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    const { filesystem, virtual, protectedPaths } = this.#parts;
    const directory = checkDirectoryPath(path);
    const found = new Map<string, FileInfo>();
    const add = (infos: readonly FileInfo[]): void => {
      for (const info of infos) if (info.kind === "file") found.set(info.path, info);
    };
    const own = await listed(filesystem.list(namespace, directory));
    const shared = await listed(filesystem.shared?.list(directory));
    add(shared);
    add(own.filter((info) => !found.has(info.path) || !protectedPaths.isShared(info.path)));
    add(virtual.list(directory));
    if (found.size === 0 && directory !== "") {
      const file = await this.read(namespace, directory).catch(refusedAsNull);
      if (file)
        return [{ path: directory, kind: "file", bytes: file.bytes.length, modifiedAt: "" }];
    }
    return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

/** A listing of something that is a file is empty, with every filesystem. */
async function listed(
  listing: Promise<readonly FileInfo[]> | undefined,
): Promise<readonly FileInfo[]> {
  return (await listing?.catch(refusedAsNull)) ?? [];
}

function refusedAsNull(error: unknown): null {
  if (HoldfastError.is(error) && error.code === "INVALID_INPUT") return null;
  throw error;
}
