import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One importable module of a published package: a row of its `exports` map. */
export interface EntryPoint {
  /** As in an import, such as `@holdfast/testing/servers`. */
  readonly specifier: string;
  /** Folder of its package. */
  readonly folder: string;
  /** Its declaration file. */
  readonly types: string;
  /** Its report file in the repository. */
  readonly report: string;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** Every entry point of every published package below `root`; the front door of a package comes first. */
export function entryPoints(root: string): EntryPoint[] {
  return packageFolders(root).flatMap((folder) => {
    const file = join(folder, "package.json");
    const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
    if (manifest.private === true) return [];
    return Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
      if (typeof target === "string" || target.types === undefined) return [];
      const name = path === "." ? "index" : path.slice(2).replaceAll("/", "-");
      return {
        specifier: path === "." ? manifest.name : `${manifest.name}/${path.slice(2)}`,
        folder,
        types: join(folder, target.types),
        report: join(folder, "api", `${name}.api.md`),
      };
    });
  });
}

/** Folders of all packages below `root`, sorted. */
export function packageFolders(root: string): string[] {
  return readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .filter((folder) => existsSync(join(folder, "package.json")))
    .sort();
}
