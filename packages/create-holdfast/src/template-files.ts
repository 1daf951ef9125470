import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Texts by their paths in a project, with forward slashes. */
export type Files = ReadonlyMap<string, string>;

/** Reads a folder of the templates, all of it. */
export async function templateFolder(name: string): Promise<Files> {
  const folder = join(import.meta.dirname, "template", name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name: file }) => {
        const path = join(parentPath, file);
        const inside = path.slice(folder.length + 1).replaceAll("\\", "/");
        return [inside, await readFile(path, "utf8")] as const;
      }),
    ),
  );
}

/** Reads one file of the templates. */
export function templateFile(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, "template", name), "utf8");
}

/** Reads the ranges of the packages that a project may depend on, as this release was built with them. */
export async function packageRanges(): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await readFile(join(import.meta.dirname, "versions.json"), "utf8"));
}
