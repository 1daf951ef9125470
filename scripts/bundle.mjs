// Bundles the package in this directory: every entry point that its package.json names (`exports`, `imports`, `bin`) becomes
// one file, with chunks for what they share, so that a process which starts reads a few files instead of hundreds. Types are
// checked and declared by `tsc`; other packages stay imports.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { rolldown } from "rolldown";

const { exports, imports, bin } = JSON.parse(readFileSync("package.json", "utf8"));
const names = JSON.stringify([exports, imports, bin]).matchAll(/"\.\/dist\/([^"]+)\.js"/gu);
const input = Object.fromEntries([...names].map(([, name]) => [name, `src/${name}.ts`]));

for (const name of readdirSync("dist", { recursive: true }))
  if (/\.js(\.map)?$/u.test(name)) rmSync(`dist/${name}`);

const bundle = await rolldown({
  input,
  platform: "node",
  external: (id) => /^[^./]/u.test(id) && !id.startsWith("@oxc-project/runtime"),
  transform: { target: "es2023" },
});
await bundle.write({ dir: "dist", sourcemap: true, chunkFileNames: "[name]-[hash].js" });
await bundle.close();
