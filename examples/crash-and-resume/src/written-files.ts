import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Directories } from "./directories.js";
import { detail, heading, line } from "./print.js";

/** Lists the files the agents wrote. */
export function showFiles({ stateHome, workspace }: Directories): void {
  heading("4. What is on disk now");
  for (const [what, root] of [
    ["state", stateHome],
    ["workspace", workspace],
  ] as const) {
    line(what, root);
    // Folders that begin with @ are internal to the store: leases and signals.
    for (const file of filesIn(root).filter((name) => !name.startsWith("@")))
      detail(`${String(statSync(join(root, file)).size).padStart(9)} B  ${file}`);
  }
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(root, name)).isFile())
    .sort();
}
