import { basename, relative } from "node:path";

/** How this program is called, to be shown: by its name where it is installed, else as it was started. */
export function programCommand(
  script: string = process.argv[1] ?? "",
  cwd: string = process.cwd(),
): string {
  const isInstalled = /^holdfast(?:\.\w+)?$/.test(basename(script)) || script === "";
  return isInstalled ? "holdfast" : `node ${shellWord(relative(cwd, script))}`;
}

/** A word as a shell takes it for one, in quotes where it has to be. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
