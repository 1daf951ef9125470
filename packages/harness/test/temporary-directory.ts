import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty directory that is removed when the running test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-harness-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
