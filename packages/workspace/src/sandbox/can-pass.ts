import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { SandboxUser } from "./options.js";

/** Whether a user without other groups may pass through a directory and every one above it. */
export async function canPass(directory: string, { uid, gid }: SandboxUser): Promise<boolean> {
  if (uid === 0) return true;
  for (let here = await realpath(directory); ; here = dirname(here)) {
    const stats = await stat(here);
    const execute = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001;
    if ((stats.mode & execute) === 0) return false;
    if (here === dirname(here)) return true;
  }
}
