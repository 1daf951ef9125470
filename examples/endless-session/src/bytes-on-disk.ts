import { readdirSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Size of a session on disk, in bytes. */
export interface BytesOnDisk {
  /** Files that are loaded and saved with every call. */
  readonly state: number;
  /** Every message whole, with long texts beside it. */
  readonly log: number;
  /** Contents that left the context, as files the model can read. */
  readonly movedOut: number;
}

/** Adds up the files of a session. */
export function bytesOnDisk(roots: {
  readonly state: string;
  readonly workspace: string;
}): BytesOnDisk {
  // Folders that begin with @ belong to the store itself.
  const state = sizes(roots.state).filter(([name]) => !name.startsWith("@"));
  const files = sizes(roots.workspace);
  const below = (...folders: string[]): [string, number][] =>
    files.filter(([name]) => name.split(sep).some((part) => folders.includes(part)));
  return {
    state: sum(state),
    log: sum(below("agents")),
    movedOut: sum(below("large_tool_results", "conversation_history")),
  };
}

function sizes(root: string): [name: string, bytes: number][] {
  return readdirSync(root, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(root.length + 1), statSync(path).size];
    });
}

function sum(files: readonly [string, number][]): number {
  return files.reduce((total, [, bytes]) => total + bytes, 0);
}
