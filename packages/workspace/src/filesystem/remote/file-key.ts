import { createHash } from "node:crypto";
import { MAX_KEY_LENGTH } from "@holdfast/core/store-kit";

/** Characters of a long path that its key begins with, so that a listing by prefix finds it. */
const PREFIX_CHARS = 900;

/**
 * Returns the key of a file's manifest: its path, or the beginning of a long path and a hash. No path contains `//`, so
 * the two forms never collide.
 */
export function fileKey(path: string): string {
  return path.length <= MAX_KEY_LENGTH ? path : `${beginning(path)}//${sha256(path)}`;
}

/** Returns the prefix of the keys of all files below a directory; keys of other files may have it too. */
export function keyPrefix(directory: string): string {
  return directory === "" ? "" : beginning(`${directory}/`);
}

/** Returns the prefix of the keys of a file's chunks. */
export function chunkPrefix(path: string): string {
  return `${sha256(path).slice(0, 32)}/`;
}

/** Returns the directories a path goes through, outermost first. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    parents.push(path.slice(0, end));
  return parents;
}

function beginning(path: string): string {
  if (path.length <= PREFIX_CHARS) return path;
  const cut = path.slice(0, PREFIX_CHARS);
  // Half a surrogate pair is not a valid key.
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function sha256(path: string): string {
  return createHash("sha256").update(path, "utf8").digest("hex");
}
