// Folds the pending changesets of packages that were never released into their first ones. As long as `<package>-first-release.md`
// is pending, nobody has a version that another changeset could tell the changes of. Refuses a changeset of several packages: each
// has a changelog of its own, with words for its users. `version-packages` runs it before `changeset version`, in the working
// directory.
import { readdirSync, readFileSync, rmSync } from "node:fs";

const directory = ".changeset";
const suffix = "-first-release.md";
const files = readdirSync(directory).filter((name) => name.endsWith(".md") && name !== "README.md");

/** Returns the one package that a changeset names. */
function packageOf(file) {
  const [, header = ""] =
    /^---\n(.*?\n)---\n/su.exec(readFileSync(`${directory}/${file}`, "utf8")) ?? [];
  const [name, ...others] = [...header.matchAll(/^"([^"]+)": /gmu)].map(([, each]) => each);
  if (name === undefined || others.length > 0)
    throw new Error(`${directory}/${file} must name one package; write one file per package`);
  return name;
}

const packages = new Map(files.map((file) => [file, packageOf(file)]));
const isNew = (name) => packages.has(name.replace("@holdfast/", "") + suffix);
for (const [file, name] of packages)
  if (isNew(name) && !file.endsWith(suffix)) rmSync(`${directory}/${file}`);
