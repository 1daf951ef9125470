import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Slot } from "@holdfast/core";
import { LocalFilesystem } from "@holdfast/workspace";

/** Returns the directory of the sample project that is published with this package. */
export function sampleProject(): string {
  return fileURLToPath(new URL("../sample", import.meta.url));
}

/** Slot of the session that the demo runs. */
export const demoSlot: Slot = { agentId: "coder", userId: "you", sessionId: "demo" };

/** Temporary directory of a demo. */
export interface DemoFiles {
  readonly directory: string;
  /** Directory of the store; the same as `--store json:<directory>`. */
  readonly store: string;
  readonly workspace: string;
  /** Removes the directory, unless it was created with `keep`. */
  remove(): Promise<void>;
}

/**
 * Creates a temporary directory with a copy of the sample project for the agent to work on.
 *
 * @param keep - leave the directory in place, however the demo ends
 */
export async function createDemoFiles(keep = false): Promise<DemoFiles> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
  const workspace = join(directory, "workspace");
  // A worker that was just killed may still be writing.
  const thoroughly = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };
  const removeNow = (): void => rmSync(directory, thoroughly);
  // The process exits at once when the reader of its output closes the pipe.
  if (!keep) process.once("exit", removeNow);
  const remove = async (): Promise<void> => {
    process.removeListener("exit", removeNow);
    if (!keep) await rm(directory, thoroughly);
  };
  try {
    await mkdir(workspace);
    await cp(join(sampleProject(), "AGENTS.md"), join(workspace, "AGENTS.md"));
    await copyProject(workspace);
  } catch (error) {
    await remove();
    throw error;
  }
  return { directory, store: join(directory, "store"), workspace, remove };
}

/** Copies the project as the user's own files: files shared by all users could not be edited. Records stay with the tool that fetches them. */
async function copyProject(workspace: string): Promise<void> {
  const files = new LocalFilesystem({ root: workspace });
  const sample = sampleProject();
  const entries = await readdir(sample, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = relative(sample, join(entry.parentPath, entry.name)).split(sep).join("/");
    if (path === "AGENTS.md" || path.startsWith("records/")) continue;
    await files.write(demoSlot, path, await readFile(join(sample, path)));
  }
}
