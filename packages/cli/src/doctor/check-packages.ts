import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Finding, fine, warning } from "./finding.js";
import { fitTogether } from "./version.js";

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
}

/** Whether the packages of the current project fit this command's, and each other. */
export async function checkPackages(project: string = process.cwd()): Promise<readonly Finding[]> {
  const own = await readManifest(fileURLToPath(new URL("../../package.json", import.meta.url)));
  const names = Object.keys(own?.dependencies ?? {}).filter((name) =>
    name.startsWith("@holdfast/"),
  );
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url);
  const versionOf = async (name: string, parentURL: string): Promise<string | undefined> => {
    const found = jiti.esmResolve(`${name}/package.json`, { parentURL, try: true });
    return found ? (await readManifest(fileURLToPath(found)))?.version : undefined;
  };
  const command = own?.version ?? "unknown";
  const findings: Finding[] = [];
  for (const name of names) {
    const versions = new Set([
      await versionOf(name, import.meta.url),
      await versionOf(name, pathToFileURL(`${project}/`).href),
    ]);
    for (const version of versions)
      if (version !== undefined && !fitTogether(version, command))
        findings.push(
          warning(
            "packages",
            `${name} ${version} does not fit @holdfast/cli ${command}`,
            `install releases that belong together: npm install ${name}@${command}`,
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
