import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "./stage.js";
import { aside, chapter, line } from "./terminal.js";

/** Lists what the agents left on disk. */
export function showFiles({ stateHome, workspace }: Stage): void {
  chapter("4. What is on disk now");
  for (const [what, root] of [
    ["state", stateHome],
    ["workspace", workspace],
  ] as const) {
    line(what, root);
    // Folders that begin with @ belong to the store itself: who waits for whom, and signals.
    for (const file of filesIn(root).filter((name) => !name.startsWith("@")))
      aside(`${String(statSync(join(root, file)).size).padStart(9)} B  ${file}`);
  }
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(root, name)).isFile())
    .sort();
}
