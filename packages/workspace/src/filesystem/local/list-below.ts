import type { Dirent } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../io-error.js";
import { MAX_DEPTH } from "../path-depth.js";
import { DirectoryMovedError, type OpenDirectory } from "./open-directory.js";
import { isTemporaryName, STALE_AFTER_MS } from "./temporary-name.js";
import { statEntry } from "./walk.js";

/** How many files are looked at together. */
const AT_ONCE = 32;

/** What the system answers when something vanished or became something else meanwhile. */
const VANISHED = ["ENOENT", "ENOTDIR", "ELOOP", "EMLINK"];

/**
 * Adds everything below an open directory to `found`: files and directories, not links, pipes and the like, nor what
 * vanishes meanwhile. Removes temporary files that a dead process left.
 *
 * @param path - of the directory, in the namespace
 */
export async function listBelow(
  directory: OpenDirectory,
  path: string,
  found: FileInfo[],
): Promise<void> {
  const entries = await entriesOf(directory);
  const files = entries.filter((entry) => entry.isFile());
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const batch = files.slice(at, at + AT_ONCE);
    const infos = await Promise.all(
      batch.map((entry) => fileInfo(directory, entry.name, below(path, entry.name))),
    );
    found.push(...infos.filter((info) => info !== null));
  }
  for (const entry of entries)
    if (entry.isDirectory()) await listChild(directory, entry.name, below(path, entry.name), found);
}

/** What a listing says about a file; null for anything else and for nothing. */
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

/** Adds a directory and everything below it, unless it is gone or not a directory any more. */
export async function listChild(
  directory: OpenDirectory,
  name: string,
  path: string,
  found: FileInfo[],
): Promise<void> {
  let child: OpenDirectory;
  try {
    child = await directory.child(name);
  } catch (error) {
    if (error instanceof DirectoryMovedError || hasIoCode(error, ...VANISHED)) return;
    throw error;
  }
  try {
    const modifiedAt = (await child.modifiedAt()).toISOString();
    found.push({ path, kind: "directory", bytes: 0, modifiedAt });
    // Deeper ones no path can name.
    if (path.split("/").length < MAX_DEPTH) await listBelow(child, path, found);
  } finally {
    await child.close();
  }
}

async function entriesOf(directory: OpenDirectory): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory.path, { withFileTypes: true });
    await directory.confirm();
    return entries;
  } catch (error) {
    if (error instanceof DirectoryMovedError || hasIoCode(error, ...VANISHED)) return [];
    throw error;
  }
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
