import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Peer } from "./peer.js";

/** Time for one installation. */
const TIMEOUT_MS = 300_000;

/**
 * Installs a peer's packages with npm into a directory of their own; install scripts are not run.
 *
 * @throws Error that says in a line what npm said
 */
export async function installPeer(
  { packages }: Pick<Peer, "packages">,
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "package.json"), '{ "private": true, "type": "module" }\n');
  await writeFile(join(directory, "load.mjs"), "export const load = (module) => import(module);\n");
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages];
  try {
    await promisify(execFile)("npm", args, { cwd: directory, timeout: TIMEOUT_MS });
  } catch (error) {
    throw new Error(`npm install failed: ${reasonIn(error)}`);
  }
}

/** First line in which npm names an error. */
function reasonIn(error: unknown): string {
  const { stderr = "" } = error as { readonly stderr?: string };
  const lines = stderr.split("\n").filter((line) => /^npm (error|ERR!) \S/.test(line));
  return (lines[0] ?? String(error)).replace(/^npm (error|ERR!) /, "").split("\n")[0] ?? "";
}
