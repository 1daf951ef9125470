import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { LocalRegistry } from "./local-registry.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packs every package as it is, and starts a registry with them that ends with the test. */
export async function packedRegistry(): Promise<LocalRegistry> {
  const tarballs = await mkdtemp(join(tmpdir(), "holdfast-tarballs-"));
  onTestFinished(() => rm(tarballs, { recursive: true, force: true }));
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const pack = ["--filter", "./packages/*", "pack", "--pack-destination", tarballs];
  const options = { cwd: root, shell: process.platform === "win32" };
  await promisify(execFile)("npx", ["--yes", packageManager, ...pack], options);
  const registry = new LocalRegistry(tarballs);
  await registry.start();
  onTestFinished(() => registry.stop());
  return registry;
}
