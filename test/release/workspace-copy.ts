import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageFolders } from "../entry-points.js";
import { pnpm } from "./pnpm.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** The part of a package.json that matters here. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Kind of change by package. */
export type Changes = Readonly<Record<string, "major" | "minor" | "patch">>;

/**
 * A copy of the workspace in which releases are tried: the manifests of the published packages, without code and without
 * dependencies on anything else, and the settings and pending changesets of the repository.
 */
export class WorkspaceCopy {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async create(): Promise<WorkspaceCopy> {
    const copy = new WorkspaceCopy(await mkdtemp(join(tmpdir(), "holdfast-release-")));
    const { directory } = copy;
    const { packageManager } = await read(join(root, "package.json"));
    await write(join(directory, "package.json"), { name: "copy", private: true, packageManager });
    await write(join(directory, "pnpm-workspace.yaml"), {
      packages: ["packages/*"],
      pmOnFail: "ignore",
    });
    for (const folder of packageFolders(root)) {
      const manifest = await read(join(folder, "package.json"));
      if (manifest.private) continue;
      const place = join(directory, "packages", basename(folder));
      await mkdir(place, { recursive: true });
      await write(join(place, "package.json"), ownPart(manifest));
    }
    for (const part of [".changeset", "scripts"])
      await cp(join(root, part), join(directory, part), { recursive: true });
    await pnpm(["install", "--offline"], directory);
    // The changelog writer is looked up in the workspace.
    await symlink(
      join(root, "node_modules/@changesets"),
      join(directory, "node_modules/@changesets"),
    );
    await copy.git("init", "--quiet");
    await copy.commit();
    return copy;
  }

  /** Versions of all packages by their names without the scope. */
  async versions(): Promise<Readonly<Record<string, string>>> {
    const folders = await readdir(join(this.directory, "packages"));
    const manifests = folders.map((folder) =>
      read(join(this.directory, "packages", folder, "package.json")),
    );
    return Object.fromEntries(
      (await Promise.all(manifests)).map(({ name, version }) => [short(name), version]),
    );
  }

  /** Goes back to the last commit, and makes a release of changes. */
  async release(changes: Changes): Promise<void> {
    await this.reset();
    for (const [name, kind] of Object.entries(changes))
      await this.addChangeset(name, { [name]: kind });
    await this.version();
  }

  /** Goes back to the last commit. */
  async reset(): Promise<void> {
    await this.git("reset", "--quiet", "--hard");
    await this.git("clean", "--quiet", "-d", "--force");
  }

  /** Adds a pending changeset. */
  async addChangeset(topic: string, changes: Changes): Promise<void> {
    const rows = Object.entries(changes).map(([name, kind]) => `"${fullName(name)}": ${kind}\n`);
    const file = join(this.directory, ".changeset", `${topic}-change.md`);
    await writeFile(file, `---\n${rows.join("")}---\n\nA change.\n`);
  }

  /** Turns the pending changesets into versions, as `version-packages` does. */
  async version(): Promise<void> {
    const options = { cwd: this.directory };
    await run(process.execPath, ["scripts/fold-changesets.mjs"], options);
    await run(
      process.execPath,
      [join(root, "node_modules/@changesets/cli/bin.js"), "version"],
      options,
    );
  }

  async commit(): Promise<void> {
    await writeFile(join(this.directory, ".gitignore"), "node_modules\n*.tgz\n");
    await this.git("add", "--all");
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
    await this.git(...author, "commit", "--quiet", "--message", "release");
  }

  /** Packs packages as they would be published. */
  async pack(names: readonly string[], destination: string): Promise<void> {
    const filters = names.flatMap((name) => ["--filter", fullName(name)]);
    await pnpm([...filters, "pack", "--pack-destination", destination], this.directory);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async git(...args: string[]): Promise<void> {
    await run("git", args, { cwd: this.directory });
  }
}

/** Returns a manifest without the dependencies on packages of others. */
function ownPart(manifest: Manifest): object {
  const { name, version, dependencies, devDependencies, peerDependencies } = manifest;
  const own = (ranges = {}) =>
    Object.fromEntries(
      Object.entries(ranges).filter(([each]) => /^@holdfast\/(?!provider-rigs)/u.test(each)),
    );
  return {
    ...{ name, version, license: "MIT" },
    dependencies: own(dependencies),
    devDependencies: own(devDependencies),
    peerDependencies: own(peerDependencies),
  };
}

/** Returns the name of a package by its name without the scope. The program that begins projects has none. */
export function fullName(name: string): string {
  return name === "create-holdfast" ? name : `@holdfast/${name}`;
}

/** Returns the name of a package without its scope. */
function short(name: string): string {
  return name.replace("@holdfast/", "");
}

async function read(file: string): Promise<Manifest & { readonly packageManager: string }> {
  return JSON.parse(await readFile(file, "utf8"));
}

async function write(file: string, value: object): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
