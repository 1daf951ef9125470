import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

/** Links followed for one path, as in Linux. */
const maxLinks = 40;

/**
 * Returns the path with every link resolved, as far as it exists: links of the deepest existing directory are followed,
 * the rest is appended. Links are followed before `..` is applied, as the operating system does.
 *
 * @param root - directory that a relative path begins in
 * @returns an absolute path; `""` when it cannot be told (a loop of links, a directory that may not be read), which no
 * rule allows
 */
export async function realPathOf(root: string, path: string): Promise<string> {
  const wanted = isAbsolute(path) ? path : `${root}${sep}${path}`;
  const real = path.includes("\0") ? null : await resolved(wanted, maxLinks);
  return real === null ? "" : real.split(sep).join("/");
}

async function resolved(path: string, links: number): Promise<string | null> {
  if (links === 0) return null;
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return null;
  }
  const trimmed = path.replace(/[\\/]+$/, "");
  const parent = dirname(trimmed);
  if (parent === trimmed || trimmed === "") return null;
  const directory = await resolved(parent, links - 1);
  if (directory === null) return null;
  const child = join(directory, basename(trimmed));
  const target = await linkTarget(child);
  // A link to nothing: writing to it creates its target.
  return target === null
    ? child
    : resolved(isAbsolute(target) ? target : `${directory}${sep}${target}`, links - 1);
}

async function linkTarget(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch {
    return null;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
