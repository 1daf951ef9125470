// Bundles the page into a directory, dist/page unless one is named: one script, one style sheet, nothing from elsewhere.
import { cpSync, mkdirSync } from "node:fs";
import { rolldown } from "rolldown";

const [target = "dist/page"] = process.argv.slice(2);
mkdirSync(target, { recursive: true });
for (const name of ["index.html", "icon.svg", "page.css"])
  cpSync(`src/page/${name}`, `${target}/${name}`);
const bundle = await rolldown({
  input: "src/page/page.tsx",
  platform: "browser",
  // Libraries mark files for frameworks that render on a server; here there is none.
  onLog: (level, log, next) => log.code === "MODULE_LEVEL_DIRECTIVE" || next(level, log),
  transform: { target: "es2022", define: { "process.env.NODE_ENV": '"production"' } },
});
await bundle.write({ file: `${target}/page.js`, minify: true });
await bundle.close();
