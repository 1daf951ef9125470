import type { Dirent } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../io-error.js";
import { MAX_PATH_DEPTH } from "../limits.js";
import { statEntry } from "./directory-chain.js";
import { DirectoryMovedError, type OpenDirectory } from "./open-directory.js";
import { isTemporaryName, STALE_AFTER_MS } from "./temporary-name.js";

/** Files whose status is read concurrently. */
const CONCURRENCY = 32;

/** Codes of a system error about something that was removed or replaced meanwhile. */
const VANISHED = ["ENOENT", "ENOTDIR", "ELOOP", "EMLINK"];

/** Codes of a system error about something that this process may not read. */
const UNREADABLE = ["EACCES", "EPERM"];

/** Options of a listing: entries that it leaves out. */
export interface ListingOptions {
  /** Names of directories that are left out, with everything in them. @default none */
  readonly hidden?: ReadonlySet<string> | undefined;
  /** Most entries; the rest is left out. @default no limit */
  readonly maxEntries?: number | undefined;
  /** Leaves out what this process may not read, instead of failing with the system's error. @default false */
  readonly skipsUnreadable?: boolean | undefined;
}

/**
 * Adds every file and directory below an open directory to `found`; links, pipes and the like are left out, and so is
 * what vanishes meanwhile. Removes temporary files that a dead process left behind.
 *
 * @param path - path of the directory in its namespace
 */
export async function listBelow(
  directory: OpenDirectory,
  path: string,
  found: FileInfo[],
  options: ListingOptions = {},
): Promise<void> {
  const { hidden, maxEntries = Number.POSITIVE_INFINITY } = options;
  const entries = await entriesOf(directory, options);
  const files = entries.filter((entry) => entry.isFile());
  for (let at = 0; at < files.length && found.length < maxEntries; at += CONCURRENCY) {
    const room = Math.min(CONCURRENCY, maxEntries - found.length);
    const batch = files.slice(at, at + room);
    const infos = await Promise.all(
      batch.map(({ name }) =>
        fileInfo(directory, name, below(path, name)).catch((error) => {
          if (isLeftOut(error, options)) return null;
          throw error;
        }),
      ),
    );
    found.push(...infos.filter((info) => info !== null));
  }
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    if (found.length >= maxEntries) return;
    if (!hidden?.has(name)) await listChild(directory, name, below(path, name), found, options);
  }
}

/** Returns the entry of a file in a listing; null for anything else and for nothing. */
export async function fileInfo(
  directory: OpenDirectory,
  name: string,
  path: string,
): Promise<FileInfo | null> {
  const stats = await statEntry(directory, name);
  if (stats === null || !stats.isFile()) return null;
  if (isTemporaryName(name)) {
    if (Date.now() - stats.mtimeMs > STALE_AFTER_MS)
      await unlink(directory.entry(name)).catch(() => undefined);
    return null;
  }
  return { path, kind: "file", bytes: stats.size, modifiedAt: stats.mtime.toISOString() };
}

/** Adds a directory and everything below it, unless it was removed or replaced meanwhile. */
export async function listChild(
  directory: OpenDirectory,
  name: string,
  path: string,
  found: FileInfo[],
  options: ListingOptions = {},
): Promise<void> {
  let child: OpenDirectory;
  try {
    child = await directory.child(name);
  } catch (error) {
    if (isLeftOut(error, options)) return;
    throw error;
  }
  try {
    const modifiedAt = (await child.modifiedAt()).toISOString();
    found.push({ path, kind: "directory", bytes: 0, modifiedAt });
    // No path can name anything deeper.
    if (path.split("/").length < MAX_PATH_DEPTH) await listBelow(child, path, found, options);
  } finally {
    await child.close();
  }
}

async function entriesOf(directory: OpenDirectory, options: ListingOptions): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory.path, { withFileTypes: true });
    await directory.confirm();
    return entries;
  } catch (error) {
    if (isLeftOut(error, options)) return [];
    throw error;
  }
}

function isLeftOut(error: unknown, { skipsUnreadable = false }: ListingOptions): boolean {
  if (error instanceof DirectoryMovedError || hasIoCode(error, ...VANISHED)) return true;
  return skipsUnreadable && hasIoCode(error, ...UNREADABLE);
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
