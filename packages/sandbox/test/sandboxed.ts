import { readdirSync, readFileSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { type Filesystem, InMemoryFilesystem } from "@holdfast/core";
import type { CommandResult, FileNamespace, ShellCommand } from "@holdfast/core/plugin-kit";
import { tempDirectory } from "@holdfast/testing";
import { SandboxFilesystem, type SandboxFilesystemOptions } from "../src/index.js";

export const mine: FileNamespace = { agentId: "agent", userId: "me", sessionId: "session" };
export const yours: FileNamespace = { ...mine, userId: "you" };

/** A sandbox filesystem in a scratch directory of its own, and the filesystem behind it. */
export interface Sandboxed extends AsyncDisposable {
  readonly files: SandboxFilesystem;
  readonly kept: Filesystem;
  readonly scratch: string;
}

export async function sandboxed(
  options: Partial<SandboxFilesystemOptions> = {},
): Promise<Sandboxed> {
  const directory = await tempDirectory();
  // Commands run as another user when the tests run as root.
  await chmod(directory.path, 0o755);
  const kept = options.files ?? new InMemoryFilesystem();
  const files = new SandboxFilesystem({ scratch: directory.path, ...options, files: kept });
  return {
    files,
    kept,
    scratch: directory.path,
    async [Symbol.asyncDispose]() {
      try {
        await files.close();
      } finally {
        await directory.cleanup();
      }
    },
  };
}

/** Runs a command line; a minute is more than any of them takes. */
export async function run(
  files: SandboxFilesystem,
  command: string,
  options: Partial<ShellCommand> & { readonly namespace?: FileNamespace } = {},
): Promise<CommandResult> {
  const { namespace = mine, ...rest } = options;
  return files.run(namespace, {
    command,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...rest,
  });
}

export function text(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

export async function readText(
  files: Filesystem,
  path: string,
  namespace: FileNamespace = mine,
): Promise<string | null> {
  const bytes = await files.read(namespace, path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

export async function filePaths(files: Filesystem, namespace = mine): Promise<string[]> {
  const found = await files.list(namespace);
  return found.filter(({ kind }) => kind === "file").map(({ path }) => path);
}

/** Counts the processes of this machine that have `mark` among their arguments. */
export function processesWith(mark: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  }).length;
}

/** Returns the processes that hold filesystems in memory for this process. */
export function volumeHolders(): number[] {
  return readdirSync("/proc")
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const isOurs = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === process.pid;
        return isOurs && / \((?:cat|sh)\) [^Z]/.test(stat);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Counts the entries of the one scratch directory below `scratch`. */
export async function directoriesIn(scratch: string): Promise<number> {
  const [own] = await readdir(scratch);
  return own === undefined ? 0 : (await readdir(`${scratch}/${own}`)).length;
}
