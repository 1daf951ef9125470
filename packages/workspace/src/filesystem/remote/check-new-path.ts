import { notDirectoryRefusal, notFileRefusal } from "../refusals.js";
import { parentsOf } from "./file-key.js";
import type { ManifestStore, StoredVersion } from "./manifest-store.js";

/**
 * Checks that a file may be begun at a path: none of its parents is a file, and it is not a directory.
 *
 * @throws InvalidInputError
 */
export async function checkNewPath(manifests: ManifestStore, path: string): Promise<void> {
  const parents = parentsOf(path);
  const [found, isDirectory] = await Promise.all([
    manifests.getMany(parents),
    hasFiles(manifests, path),
  ]);
  const file = parents.find((_, index) => isFile(found[index] ?? null));
  if (file !== undefined) throw notDirectoryRefusal(file);
  if (isDirectory) throw notFileRefusal(path);
}

async function hasFiles(manifests: ManifestStore, directory: string): Promise<boolean> {
  for await (const page of manifests.below(directory)) if (page.some(isFile)) return true;
  return false;
}

function isFile(stored: StoredVersion | null): boolean {
  return stored !== null && !stored.manifest.isVacant;
}
