import type { AgentStateStore, Reach } from "./agent-state-store.js";
import type { KeyValueStore } from "./key-value-store.js";

/** Whose files an operation sees: the user's, or the session's own when there is no user. */
export interface FileNamespace {
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string;
}

/** What a listing says about a file. */
export interface FileInfo {
  /** Relative to the namespace, with `/`. */
  readonly path: string;
  readonly kind: "file" | "directory";
  readonly bytes: number;
  readonly modifiedAt: string;
}

/** A command for the shell of a filesystem that has one. */
export interface ShellCommand {
  /** A line for `sh -c`. */
  readonly command: string;
  /** Relative to the namespace. @default its top */
  readonly workingDirectory?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came of a {@link ShellCommand}; one that fails or runs out of time is a result, not an error. */
export interface CommandResult {
  /** null when a signal or the time-out ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** Whether output was left out because there was too much of it. */
  readonly truncated: boolean;
}

/** A namespace while a call works in it. */
export interface FileVisit {
  /** Keeps what the call changed. Idempotent. */
  leave(): Promise<void>;
}

/**
 * Workspace files, by namespace.
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
  read(namespace: FileNamespace, path: string): Promise<Uint8Array | null>;
  write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void>;
  append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void>;
  /** Whether there was something to delete. */
  delete(namespace: FileNamespace, path: string): Promise<boolean>;
  /** Everything below `path`, in path order. */
  list(namespace: FileNamespace, path?: string): Promise<readonly FileInfo[]>;
  /** What all users share, read-only: `read` and `list` of this filesystem alone never show it. */
  readonly shared?: SharedFiles | undefined;
  /** Runs a command among the files; only filesystems that may have it. */
  run?(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult>;
  /** Called before a call's first step and left after its last, by filesystems whose files have to be fetched and kept. */
  enter?(namespace: FileNamespace): Promise<FileVisit>;
  /** Called once before the agent's first call: rejects with a `ConfigurationError` when it cannot work here. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** Files that all users of an agent may read and none may change. Paths as in {@link Filesystem}. */
export interface SharedFiles {
  read(path: string): Promise<Uint8Array | null>;
  list(path?: string): Promise<readonly FileInfo[]>;
}

/** What a {@link FilesystemSpec} may build on. */
export interface FilesystemParts {
  /** The workspace directory. */
  readonly workspace: string;
  readonly keyValue: KeyValueStore;
  readonly stateStore: AgentStateStore;
}

/** How a builder is told which filesystem to use; made into one at build time, without I/O. */
export interface FilesystemSpec {
  readonly kind: string;
  /** How far the state store must reach for this filesystem to make sense. */
  readonly needs: Reach;
  create(parts: FilesystemParts): Filesystem;
}
