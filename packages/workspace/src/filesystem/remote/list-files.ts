import type { FileInfo } from "@holdfast/core/plugin-kit";
import { parentsOf } from "./file-key.js";
import type { FileSpace } from "./file-space.js";
import { fileBytes, type Manifest } from "./manifest.js";

/** A file that was announced that long ago and is not there was given up. */
const STALE_AFTER_MS = 3_600_000;

/** Everything below a directory, in path order; directories are what paths go through. Clears away what crashes left. */
export async function listFiles(space: FileSpace, directory: string): Promise<FileInfo[]> {
  const found = new Map<string, FileInfo>();
  for await (const page of space.manifests.below(directory))
    for (const stored of page) {
      const { manifest } = stored;
      if (!manifest.isVacant) add(found, directory, manifest);
      else if (Date.now() - Date.parse(manifest.modifiedAt) > STALE_AFTER_MS)
        await space.vacate(stored).catch(() => undefined);
    }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function add(found: Map<string, FileInfo>, directory: string, manifest: Manifest): void {
  const { path, modifiedAt } = manifest;
  found.set(path, { path, kind: "file", bytes: fileBytes(manifest), modifiedAt });
  for (const parent of parentsOf(path)) {
    if (directory !== "" && !parent.startsWith(`${directory}/`)) continue;
    const known = found.get(parent);
    // Two processes at once can make a file where another makes a directory: both can be read, the file is shown.
    if (known === undefined || (known.kind === "directory" && known.modifiedAt < modifiedAt))
      found.set(parent, { path: parent, kind: "directory", bytes: 0, modifiedAt });
  }
}
