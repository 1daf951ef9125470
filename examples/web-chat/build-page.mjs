// Bundles the page into dist/page: one script, one style sheet, nothing from elsewhere.
import { cpSync, mkdirSync } from "node:fs";
import { rolldown } from "rolldown";

mkdirSync("dist/page", { recursive: true });
for (const name of ["index.html", "icon.svg", "page.css"])
  cpSync(`src/page/${name}`, `dist/page/${name}`);
const bundle = await rolldown({
  input: "src/page/page.tsx",
  platform: "browser",
  // Libraries mark files for frameworks that render on a server; here there is none.
  onLog: (level, log, next) => log.code === "MODULE_LEVEL_DIRECTIVE" || next(level, log),
  transform: { target: "es2022", define: { "process.env.NODE_ENV": '"production"' } },
});
await bundle.write({ file: "dist/page/page.js", minify: true });
await bundle.close();
