import { basename, relative } from "node:path";

/** Returns the command that runs this program: its name where it is installed, else the script that was started. */
export function programCommand(
  script: string = process.argv[1] ?? "",
  cwd: string = process.cwd(),
): string {
  const isInstalled = /^holdfast(?:\.\w+)?$/.test(basename(script)) || script === "";
  return isInstalled ? "holdfast" : `node ${shellWord(relative(cwd, script))}`;
}

/** Quotes a word for a shell where it needs quoting. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
