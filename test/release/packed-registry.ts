import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LocalRegistry } from "./local-registry.js";
import { pnpm } from "./pnpm.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packs every package as it is, and starts a registry with them that ends with the test. */
export async function packedRegistry(): Promise<LocalRegistry> {
  const tarballs = await mkdtemp(join(tmpdir(), "holdfast-tarballs-"));
  onTestFinished(() => rm(tarballs, { recursive: true, force: true }));
  await pnpm(["--filter", "./packages/*", "pack", "--pack-destination", tarballs], root);
  const registry = new LocalRegistry(tarballs);
  await registry.start();
  onTestFinished(() => registry.stop());
  return registry;
}
