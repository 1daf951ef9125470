import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** Windows has programs of npm as scripts only. */
const shell = process.platform === "win32";

/**
 * Runs the pnpm of this repository in a directory. `npm test` has it at hand; elsewhere npx finds it, which takes much longer
 * than pnpm itself does.
 */
export async function pnpm(args: readonly string[], cwd: string): Promise<void> {
  const [program, before] = await command();
  await run(program, [...before, ...args], { cwd, shell });
}

let found: ReturnType<typeof find> | undefined;
function command(): ReturnType<typeof find> {
  found ??= find();
  return found;
}

/** The program, and its arguments before all others. */
async function find(): Promise<readonly [program: string, before: readonly string[]]> {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const here = await run("pnpm", ["--version"], { cwd: root, shell }).catch(() => null);
  const isMeant = `pnpm@${here?.stdout.trim()}` === packageManager;
  return isMeant ? ["pnpm", []] : ["npx", ["--yes", packageManager]];
}
