// Puts into dist what projects are written from: the templates, the example web-chat as the template of that name, and the
// versions of every package that a project may depend on, as the manifests of this release have them.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const root = "../..";
const example = `${root}/examples/web-chat`;

/** Files of the example that a project has its own of. */
const ownFiles = ["main.ts", "screenshots.ts", "model.ts", "parts.ts", "store.ts", "tsconfig.json"];

rmSync("dist/template", { recursive: true, force: true });
cpSync(`${example}/src`, "dist/template/web-chat/src", {
  recursive: true,
  filter: (path) => !ownFiles.includes(basename(path)),
});
cpSync(`${example}/build-page.mjs`, "dist/template/web-chat/build-page.mjs");
cpSync("template", "dist/template", { recursive: true });

const manifest = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const ours = readdirSync(`${root}/packages`).map((name) => manifest(`${root}/packages/${name}`));
const others = [root, example, `${root}/packages/cli`, `${root}/packages/otel`].map(manifest);
const versions = {};
for (const { dependencies, devDependencies, peerDependencies } of others)
  for (const [name, range] of Object.entries({
    ...peerDependencies,
    ...devDependencies,
    ...dependencies,
  }))
    if (!range.startsWith("workspace:")) versions[name] ??= range.replace(/^(?=\d)/u, "^");
for (const { name, version, private: isPrivate } of ours)
  if (!isPrivate) versions[name] = `^${version}`;
writeFileSync("dist/versions.json", `${JSON.stringify(versions, null, 2)}\n`);
