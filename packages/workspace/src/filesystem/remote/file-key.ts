import { createHash } from "node:crypto";
import { MAX_KEY_LENGTH } from "@holdfast/core/store-kit";

/** How much of a long path its key begins with, so that a listing by prefix still finds it. */
const KEPT = 900;

/**
 * The key of a file's manifest: its path, or the beginning of a long path and a hash. No path holds `//`, so the two
 * never meet.
 */
export function fileKey(path: string): string {
  return path.length <= MAX_KEY_LENGTH ? path : `${beginning(path)}//${sha256(path)}`;
}

/** What the keys of all files below a directory begin with; perhaps others' too. */
export function keyPrefix(directory: string): string {
  return directory === "" ? "" : beginning(`${directory}/`);
}

/** What the keys of a file's chunks begin with. */
export function chunkPrefix(path: string): string {
  return `${sha256(path).slice(0, 32)}/`;
}

/** The directories a path goes through, the outermost first. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    parents.push(path.slice(0, end));
  return parents;
}

function beginning(path: string): string {
  if (path.length <= KEPT) return path;
  const cut = path.slice(0, KEPT);
  // Half a surrogate pair is no key.
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function sha256(path: string): string {
  return createHash("sha256").update(path, "utf8").digest("hex");
}
