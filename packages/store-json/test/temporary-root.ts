import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const roots: string[] = [];

/** A fresh directory, removed when the test file has ended. */
export function temporaryRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "holdfast-store-json-"));
  roots.push(root);
  return root;
}

/** Removes what {@link temporaryRoot} made. */
export function removeRoots(): void {
  // A test that takes the root away moves it aside under this name.
  for (const path of roots.splice(0).flatMap((root) => [root, `${root}.gone`]))
    rmSync(path, { recursive: true, force: true });
}
