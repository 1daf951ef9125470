import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { broken, type Finding, fine, warning } from "./finding.js";

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly peerDependencies?: Readonly<Record<string, string>> | undefined;
}

/** Checks that the packages of the current project are compatible with this command. */
export async function checkPackages(project: string = process.cwd()): Promise<readonly Finding[]> {
  const own = await readManifest(fileURLToPath(import.meta.resolve("@holdfast/cli/package.json")));
  const ranges = Object.entries({ ...own?.dependencies, ...own?.peerDependencies }).filter(
    ([name]) => name.startsWith("@holdfast/"),
  );
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url);
  const versionOf = async (name: string, parentURL: string): Promise<string | undefined> => {
    const found = jiti.esmResolve(`${name}/package.json`, { parentURL, try: true });
    return found ? (await readManifest(fileURLToPath(found)))?.version : undefined;
  };
  const command = own?.version ?? "unknown";
  const findings: Finding[] = [];
  for (const [name, range] of ranges) {
    // In the workspace all packages are of one release.
    const oldest = range.startsWith("workspace:") ? command : range;
    const versions = new Set([
      await versionOf(name, import.meta.url),
      await versionOf(name, pathToFileURL(`${project}/`).href),
    ]);
    for (const version of versions)
      if (version !== undefined && !(fitTogether(version, oldest) && atLeast(version, oldest)))
        findings.push(
          warning(
            "packages",
            `${name} ${version} does not fit @holdfast/cli ${command}`,
            `install a release that does: npm install "${name}@${range}"`,
          ),
        );
  }
  return findings.length > 0 ? findings : [fine("packages", `@holdfast/cli ${command}, all fit`)];
}

async function readManifest(file: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** Returns the numbers a version begins with, for example of `10.11.6-MariaDB`. */
function versionNumbers(version: string): readonly number[] {
  return (/\d+(\.\d+)*/u.exec(version)?.[0] ?? "0").split(".").map(Number);
}

/** Returns whether a version is at least as new as another. */
export function atLeast(version: string, oldest: string): boolean {
  const [given, needed] = [versionNumbers(version), versionNumbers(oldest)];
  for (const [index, number] of needed.entries()) {
    const difference = (given[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Returns whether two releases are compatible: the same major version, below 1 the same minor version. */
export function fitTogether(one: string, other: string): boolean {
  const [a, b] = [versionNumbers(one), versionNumbers(other)];
  return a[0] === b[0] && (a[0] !== 0 || a[1] === b[1]);
}

/** Same as `engines` of the packages. */
const OLDEST_NODE = "20.19.0";

/** Checks the version of Node. */
export function checkNode(version: string = process.versions.node): Finding {
  if (atLeast(version, OLDEST_NODE)) return fine("node", version);
  return broken("node", `${version} is too old`, `install Node ${OLDEST_NODE} or later`);
}
