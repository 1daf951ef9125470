import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const roots: string[] = [];

/** A fresh directory, removed when the test file has ended. */
export function temporaryRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "holdfast-store-json-"));
  roots.push(root);
  return root;
}

afterAll(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});
