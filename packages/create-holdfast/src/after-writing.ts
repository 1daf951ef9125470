import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PackageManager } from "./package-manager.js";

/** Runs a program in a directory, with its output on stderr; returns null, or why it failed. */
function runIn(
  directory: string,
  program: string,
  args: readonly string[],
  isQuiet = false,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: directory,
      stdio: ["ignore", isQuiet ? "ignore" : 2, isQuiet ? "ignore" : 2],
      shell: process.platform === "win32",
    });
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? `there is no program ${program}` : error.message),
    );
    child.once("close", (code, signal) =>
      resolve(code === 0 ? null : `${program} ended with ${signal ?? code}`),
    );
  });
}

/** Installs the packages of a project; returns null, or why that failed. */
export function installPackages(
  directory: string,
  packageManager: PackageManager,
): Promise<string | null> {
  return runIn(directory, packageManager, ["install"]);
}

/** Makes a git repository of a project, unless it is inside one; returns null, or why that failed. */
export async function startRepository(directory: string): Promise<string | null> {
  if (isInRepository(directory)) return null;
  return runIn(directory, "git", ["init"], true);
}

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, ".git"))) return true;
  return dirname(directory) !== directory && isInRepository(dirname(directory));
}
