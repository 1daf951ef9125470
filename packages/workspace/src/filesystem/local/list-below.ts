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
): Promise<void> {
  const entries = await entriesOf(directory);
  const files = entries.filter((entry) => entry.isFile());
  for (let at = 0; at < files.length; at += CONCURRENCY) {
    const batch = files.slice(at, at + CONCURRENCY);
    const infos = await Promise.all(
      batch.map((entry) => fileInfo(directory, entry.name, below(path, entry.name))),
    );
    found.push(...infos.filter((info) => info !== null));
  }
  for (const entry of entries)
    if (entry.isDirectory()) await listChild(directory, entry.name, below(path, entry.name), found);
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
    // No path can name anything deeper.
    if (path.split("/").length < MAX_PATH_DEPTH) await listBelow(child, path, found);
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
