import type { AgentStateStore, Reach } from "./agent-state-store.js";
import type { KeyValueStore } from "./key-value-store.js";

/** Owner of the files an operation sees: the user, or the session when there is no user. */
export interface FileNamespace {
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string;
}

/** Entry of a listing of files. */
export interface FileInfo {
  /** Path relative to the namespace, with `/`. */
  readonly path: string;
  readonly kind: "file" | "directory";
  readonly bytes: number;
  readonly modifiedAt: string;
}

/** Command for a filesystem that has a shell. */
export interface ShellCommand {
  /** Command line for `sh -c`. */
  readonly command: string;
  /** Path relative to the namespace. @default its root */
  readonly workingDirectory?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Result of a {@link ShellCommand}; a command that fails or times out has a result too. */
export interface CommandResult {
  /** Exit code; `null` when a signal or the timeout ended the command. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** `true` when output over the limit was left out. */
  readonly truncated: boolean;
}

/** Use of a namespace by one call. */
export interface FileVisit {
  /** Stores the files that the call changed. Idempotent. */
  leave(): Promise<void>;
}

/**
 * Keeps workspace files by namespace.
 *
 * Contract:
 * - Paths are relative, with `/`; absolute ones, `..` and NUL are refused with `InvalidInputError`.
 * - No path of one namespace reaches another's files.
 * - `read` resolves to `null` for a file that is not there; an error is an error.
 * - `write` replaces the whole file atomically.
 */
export interface Filesystem {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Reads a whole file; `null` when it does not exist. */
  read(namespace: FileNamespace, path: string): Promise<Uint8Array | null>;
  /** Creates or replaces a file. */
  write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void>;
  /** Appends to a file, and creates it when it does not exist. */
  append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void>;
  /** Deletes a file; resolves to `false` when there was none. */
  delete(namespace: FileNamespace, path: string): Promise<boolean>;
  /** Lists everything below `path` (the namespace's root by default), in path order. */
  list(namespace: FileNamespace, path?: string): Promise<readonly FileInfo[]>;
  /**
   * Reads a file that is needed again and again, such as a part of the prompt. Absent: use `read`.
   *
   * - The bytes are the same object until the file changes, shared by all readers: do not change them.
   * - A change through this object shows at once; one by another process may show only after `refresh`.
   */
  readCached?(namespace: FileNamespace, path: string): Promise<Uint8Array | null>;
  /**
   * Makes `readCached` show what other processes have done to a file until now. A `readCached` that comes meanwhile waits for
   * it. Absent where `readCached` misses nothing.
   */
  refresh?(namespace: FileNamespace, path: string): Promise<void>;
  /** Read-only files that all users share; `read` and `list` of this filesystem do not include them. */
  readonly shared?: SharedFiles | undefined;
  /** Runs a command in the namespace; only filesystems with a shell have it. */
  run?(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult>;
  /** Called before a call's first step, for filesystems that fetch and store files per call. */
  enter?(namespace: FileNamespace): Promise<FileVisit>;
  /** Called once before the agent's first call; rejects with `ConfigurationError` when it cannot work here. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** Files that all users of an agent may read and none may change. Paths are as in {@link Filesystem}. */
export interface SharedFiles {
  /** Reads a file; `null` when it does not exist. The bytes may be shared with other readers: do not change them. */
  read(path: string): Promise<Uint8Array | null>;
  /**
   * Lists everything below `path`, in path order. A frozen list that is returned again, as the same object, says that neither it
   * nor the files in it have changed.
   */
  list(path?: string): Promise<readonly FileInfo[]>;
}

/** Parts that a {@link FilesystemSpec} may build on. */
export interface FilesystemParts {
  /** Path of the workspace directory. */
  readonly workspace: string;
  readonly keyValue: KeyValueStore;
  readonly stateStore: AgentStateStore;
}

/** Choice of a filesystem for a builder; `create` makes it at build time, without I/O. */
export interface FilesystemSpec {
  readonly kind: string;
  /** Least reach of a state store that goes with this filesystem. */
  readonly needs: Reach;
  create(parts: FilesystemParts): Filesystem;
}
