import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Slot } from "@holdfast/core";
import { LocalFilesystem } from "@holdfast/workspace";

/** The sample project that comes with this package. */
export const sampleProject: string = fileURLToPath(new URL("../../sample", import.meta.url));

/** Whose session the demo plays. */
export const demoSlot: Slot = { agentId: "coder", userId: "you", sessionId: "demo" };

/** Where a demo takes place. */
export interface Stage {
  readonly directory: string;
  /** What `--store json:…` takes. */
  readonly store: string;
  readonly workspace: string;
  /** Takes it away, unless it is to be kept. */
  leave(): Promise<void>;
}

/**
 * A new temporary directory with a copy of the sample project for the agent to work on.
 *
 * @param keep - leave it there, whatever happens
 */
export async function setStage(keep = false): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-demo-"));
  const workspace = join(directory, "workspace");
  // A worker that was just killed may still be dying.
  const thoroughly = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };
  const removeNow = (): void => rmSync(directory, thoroughly);
  // A reader that leaves a pipe ends the program at once.
  if (!keep) process.once("exit", removeNow);
  const leave = async (): Promise<void> => {
    process.removeListener("exit", removeNow);
    if (!keep) await rm(directory, thoroughly);
  };
  try {
    await mkdir(workspace);
    await cp(join(sampleProject, "AGENTS.md"), join(workspace, "AGENTS.md"));
    await copyProject(workspace);
  } catch (error) {
    await leave();
    throw error;
  }
  return { directory, store: join(directory, "store"), workspace, leave };
}

/** Files are the user's own: those that all users share could not be edited. The records stay where a tool fetches them. */
async function copyProject(workspace: string): Promise<void> {
  const files = new LocalFilesystem({ root: workspace });
  const entries = await readdir(sampleProject, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = relative(sampleProject, join(entry.parentPath, entry.name)).split(sep).join("/");
    if (path === "AGENTS.md" || path.startsWith("records/")) continue;
    await files.write(demoSlot, path, await readFile(join(sampleProject, path)));
  }
}
