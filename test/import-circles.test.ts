import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { importsIn, sourcesIn } from "./layers.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The circles in which files below a directory import each other; imports of types alone do not count. */
function importCircles(directory: string): string[] {
  const files = new Map(
    sourcesIn(directory).map((file) => [file.replace(/\.tsx?$/, ""), file] as const),
  );
  const [circles, way, seen]: [string[], string[], Set<string>] = [[], [], new Set()];
  const follow = (file: string): void => {
    const begin = way.indexOf(file);
    if (begin >= 0)
      circles.push(
        [...way.slice(begin), file].map((each) => relative(directory, each)).join(" → "),
      );
    if (seen.has(file)) return;
    seen.add(file);
    way.push(file);
    const lang = file.endsWith("x") ? "tsx" : "ts";
    for (const { specifier, isType } of importsIn(readFileSync(file, "utf8"), lang)) {
      if (isType || !specifier.startsWith(".")) continue;
      const target = files.get(resolve(dirname(file), specifier).replace(/\.jsx?$/, ""));
      if (target !== undefined) follow(target);
    }
    way.pop();
  };
  for (const file of files.values()) follow(file);
  return circles;
}

const folders = ["packages", "examples"].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
);

test.each([...folders, "bench"])("no files of %s import each other in a circle", (folder) => {
  expect(importCircles(join(root, folder, "src"))).toEqual([]);
});

test("a circle is found, and one of types alone is none", () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-circles-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, "b"));
  writeFileSync(
    join(directory, "a.ts"),
    'import { b } from "./b/b.js"; import type { C } from "./c.js";',
  );
  writeFileSync(
    join(directory, "b/b.ts"),
    'export { c } from "../c.js"; import type { A } from "../a.js";',
  );
  writeFileSync(join(directory, "c.ts"), "export const c = 1;");
  expect(importCircles(directory)).toEqual([]);
  writeFileSync(join(directory, "c.ts"), 'import { a } from "./a.js";');
  expect(importCircles(directory)).toEqual(["a.ts → b/b.ts → c.ts → a.ts"]);
});
