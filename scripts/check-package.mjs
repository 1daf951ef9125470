// Checks the package in this directory as it would be published: packed once, then read by publint and attw.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = mkdtempSync(join(tmpdir(), "holdfast-check-package-"));
const tarball = join(directory, "package.tgz");
const steps = [
  ["pnpm", "pack", "--out", tarball],
  ["publint", tarball, "--strict"],
  ["attw", tarball, "--profile", "esm-only", "--format", "ascii", "--quiet"],
];
try {
  for (const [program, ...args] of steps) {
    const { status, stdout, stderr } = spawnSync(program, args, {
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    if (status === 0) continue;
    console.error(`${program} failed:\n${stdout ?? ""}${stderr ?? ""}`);
    process.exitCode = 1;
    break;
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
