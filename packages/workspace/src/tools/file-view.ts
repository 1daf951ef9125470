import { type Filesystem, HoldfastError } from "@holdfast/core";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
} from "@holdfast/core/plugin-kit";
import type { ProtectedPaths } from "./protected-paths.js";

/** File as tools see it. */
export interface ViewedFile {
  readonly bytes: Uint8Array;
  /** True for a file of the user's own; other files cannot be changed. */
  readonly isOwn: boolean;
}

/** Parts of a {@link FileView}. */
export interface FileViewParts {
  readonly filesystem: Filesystem;
  readonly virtual: VirtualFiles;
  readonly protectedPaths: ProtectedPaths;
}

/**
 * Files that tools see: the user's own, and behind them those that all users share.
 *
 * Under the shared names it is the other way round, so that a model reads the skill that the system prompt describes, even
 * where a command has created a file of the same path.
 */
export class FileView {
  readonly #parts: FileViewParts;

  constructor(parts: FileViewParts) {
    this.#parts = parts;
  }

  /** Reads a file; null when there is none. */
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

  /** Lists the files below a directory, or the one file that the path names, in path order. */
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

/** Makes the listing of something that is a file empty, with every filesystem. */
async function listed(
  listing: Promise<readonly FileInfo[]> | undefined,
): Promise<readonly FileInfo[]> {
  return (await listing?.catch(refusedAsNull)) ?? [];
}

function refusedAsNull(error: unknown): null {
  if (HoldfastError.is(error) && error.code === "INVALID_INPUT") return null;
  throw error;
}

/** Read-only files that exist only in the program, such as skills given as options. */
export class VirtualFiles {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #createdAt = new Date().toISOString();

  /** @param texts - contents by path */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#files = new Map([...texts].map(([path, text]) => [path, new TextEncoder().encode(text)]));
  }

  /** Reads a file; null when there is none. */
  read(path: string): Uint8Array | null {
    return this.#files.get(path)?.slice() ?? null;
  }

  /** Lists everything below a directory. */
  list(directory: string): FileInfo[] {
    const below = directory === "" ? "" : `${directory}/`;
    return [...this.#files]
      .filter(([path]) => path.startsWith(below))
      .map(([path, { length: bytes }]) => ({
        path,
        kind: "file",
        bytes,
        modifiedAt: this.#createdAt,
      }));
  }
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8, keeping a byte order mark; null for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return null;
  }
}
