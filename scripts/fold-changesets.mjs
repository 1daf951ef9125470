// Folds the pending changesets of packages that were never released into their first ones. As long as `<package>-first-release.md`
// is pending, nobody has a version that another changeset could tell the changes of. `version-packages` runs it before
// `changeset version`, in the working directory.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const directory = ".changeset";
const suffix = "-first-release.md";
const files = readdirSync(directory).filter((name) => name.endsWith(".md") && name !== "README.md");
const first = new Set(
  files
    .filter((name) => name.endsWith(suffix))
    .map((name) => `"@holdfast/${name.slice(0, -suffix.length)}"`),
);

for (const name of files.filter((file) => !file.endsWith(suffix))) {
  const path = `${directory}/${name}`;
  const [, header, body] = /^---\n(.*?\n)---\n(.*)$/su.exec(readFileSync(path, "utf8"));
  const rows = header.trimEnd().split("\n");
  const kept = rows.filter((row) => !first.has(row.split(":")[0]));
  if (kept.length === 0) rmSync(path);
  else if (kept.length < rows.length) writeFileSync(path, `---\n${kept.join("\n")}\n---\n${body}`);
}
