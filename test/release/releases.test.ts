import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled } from "@holdfast/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LocalRegistry } from "./local-registry.js";
import { type Changes, fullName, type Manifest, WorkspaceCopy } from "./workspace-copy.js";

let workspace: WorkspaceCopy;
let registry: LocalRegistry;
let names: readonly string[];

/** Releases the pending changesets, and publishes the packages here. */
beforeAll(async () => {
  workspace = await WorkspaceCopy.create();
  const tarballs = join(workspace.directory, "tarballs");
  registry = new LocalRegistry(tarballs);
  await registry.start();
  await workspace.version();
  await workspace.commit();
  names = Object.keys(await workspace.versions());
  await workspace.pack(names, tarballs);
});

afterAll(async () => {
  await registry.stop();
  await workspace.remove();
});

/** Makes a release of changes on top of the first one, and publishes `packed` of it; returns what is not 1.0.0. */
async function release(
  changes: Changes,
  packed: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  await workspace.release(changes);
  if (packed.length > 0) await workspace.pack(packed, join(workspace.directory, "tarballs"));
  const versions = Object.entries(await workspace.versions());
  return Object.fromEntries(versions.filter(([, version]) => version !== "1.0.0"));
}

/** Every range of a package of this repository in a packed manifest, but those for development. */
function ranges({ dependencies, peerDependencies }: Manifest): string[] {
  const all = Object.entries({ ...dependencies, ...peerDependencies });
  return all.filter(([name]) => name.startsWith("@holdfast/")).map(([, range]) => range);
}

async function packed(name: string, version: string): Promise<Manifest> {
  const manifests = await registry.manifests(fullName(name));
  const found = manifests.find((manifest) => manifest.version === version);
  if (found === undefined) throw new Error(`${name} ${version} was not packed`);
  return found;
}

test("the first release is 1.0.0, of every package, with one entry in its changelog", async () => {
  expect(new Set(Object.values(await workspace.versions()))).toEqual(new Set(["1.0.0"]));
  for (const name of names) {
    const manifest = await packed(name, "1.0.0");
    if (name === "core") expect(manifest.peerDependencies ?? {}).toEqual({});
    else expect(manifest.peerDependencies).toHaveProperty("@holdfast/core", "^1.0.0");
    expect(new Set(ranges(manifest))).toEqual(new Set(name === "core" ? [] : ["^1.0.0"]));
    const changelog = join(workspace.directory, "packages", name, "CHANGELOG.md");
    const entries = (await readFile(changelog, "utf8")).match(/^- (?!Updated dependencies).*/gmu);
    expect(entries).toEqual([expect.stringMatching(/^- (?:\w+: )?First release: /u)]);
  }
});

test("a changeset of two packages is refused before anything is changed", async () => {
  const both = { "store-json": "patch", "store-redis": "patch" } as const;
  await workspace.reset();
  await workspace.addChangeset("both", both);
  await expect(workspace.version()).rejects.toThrow(/both-change\.md must name one package/u);
  expect(new Set(Object.values(await workspace.versions()))).toEqual(new Set(["1.0.0"]));
});

test("a patch of a store is a release of that store alone", async () => {
  // The harness, the demo and the command line depend on it.
  expect(await release({ "store-json": "patch" })).toEqual({ "store-json": "1.0.1" });
});

test("a new feature of core is a release of core alone, and every tree with it has one core", async () => {
  expect(await release({ core: "minor" }, ["core"])).toEqual({ core: "1.1.0" });
  const all = names.map(fullName).filter((name) => name.startsWith("@holdfast/"));
  expect(await registry.resolve(all)).toEqual({ error: null, cores: ["1.1.0"] });
});

test("a plugin that uses something new in core is not installed with an older core", async () => {
  const changes = { core: "minor", eviction: "minor" } as const;
  const released = { core: "1.1.0", eviction: "1.1.0" };
  expect(await release(changes, ["core", "eviction"])).toEqual(released);
  expect(ranges(await packed("eviction", "1.1.0"))).toEqual(["^1.1.0"]);
  const older = ["@holdfast/core@1.0.0", "@holdfast/eviction@1.1.0"];
  expect((await registry.resolve(older)).error).toBe("ERESOLVE");
  const newer = ["@holdfast/core@1.1.0", "@holdfast/eviction@1.1.0"];
  expect(await registry.resolve(newer)).toEqual({ error: null, cores: ["1.1.0"] });
});

test("a breaking change of core is one of every package, each for that core and no other", async () => {
  const moved = Object.fromEntries(names.map((name) => [name, "2.0.0"]));
  expect(await release({ core: "major" }, ["core", "harness", "sandbox"])).toEqual(moved);
  for (const name of ["harness", "sandbox"])
    expect(new Set(ranges(await packed(name, "2.0.0")))).toEqual(new Set(["^2.0.0"]));
  // A plugin that is too new for its core has a test above.
  const newer = ["2.0.0", "1.0.0"];
  for (const [core, plugin] of scaled([newer], [newer, ["1.0.0", "2.0.0"]])) {
    const both = [`@holdfast/core@${core}`, `@holdfast/sandbox@${plugin}`];
    expect((await registry.resolve(both)).error, both.join()).toBe("ERESOLVE");
  }
});
